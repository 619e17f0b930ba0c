// The page of limits, docs/reference/limits.md, generated from the limits of the contract and the server's defaults.
import * as contract from "@mailsvc/sdk/contract";
import { readConfig } from "../packages/server/src/config.ts";
import { MAX_JSON_VALUES } from "../packages/server/src/http/body/json.ts";
import { RETENTION_MS } from "../packages/server/src/http/idempotency.ts";
import { ATTEMPT_TIMEOUT_MS } from "../packages/server/src/webhooks/attempt.ts";

const count = (n) => n.toLocaleString("en");
const characters = (n) => `${count(n)} characters`;
const bytes = (n) => (n % 2 ** 20 === 0 ? `${count(n / 2 ** 20)} MiB` : n % 1024 === 0 ? `${count(n / 1024)} KiB` : `${count(n)} bytes`);
const days = (n) => `${count(n)} ${n === 1 ? "day" : "days"}`;
const hours = (n) => (n % 24 === 0 && n > 24 ? days(n / 24) : `${count(n)} ${n === 1 ? "hour" : "hours"}`);
const minutes = (n) => (n % 1440 === 0 ? days(n / 1440) : `${count(n)} minutes`);
const seconds = (n) => (n % 86_400 === 0 ? days(n / 86_400) : n === 60 ? "1 minute" : `${count(n)} seconds`);

/** Title of each limit of the contract, and the format of its numbers. */
const MEANINGS = {
  SEND_LIMITS: {
    title: "A send",
    recipients: ["recipients of one request", count],
    smtpRecipients: ["recipients of one message that comes by SMTP", count],
    subject: ["subject", characters],
    content: ["html, and text, each", bytes],
    headers: ["custom headers", count],
    headerValue: ["value of a custom header", characters],
    tags: ["tags", count],
    tagValue: ["value of a tag", characters],
    utmValue: ["value of a UTM parameter", characters],
    attachments: ["attachments", count],
    attachmentBytes: ["attachments, all together", bytes],
    scheduleDays: ["how far ahead a send can be scheduled", days],
    testMailDays: ["how long captured mail of test keys is kept", days],
  },
  CALENDAR_LIMITS: {
    title: "A calendar in a mail",
    content: ["content of icalEvent; larger attachments are only files", bytes],
    properties: ["properties, such as SUMMARY", count],
    depth: ["components within each other", count],
  },
  INBOX_LIMITS: {
    title: "Captured mail",
    releasedTo: ["addresses that one call sends a captured mail on to", count],
    waits: ["requests of a workspace that wait for test mail at a time, on each server", count],
  },
  RECEIVED_LIMITS: {
    title: "Received mail",
    message: ["a mail with its files", bytes],
    text: ["text, and HTML, each, as the API shows it", characters],
    mailsPerDay: ["mails that a workspace receives in a day (UTC)", count],
    bytesPerDay: ["mails that a workspace receives in a day (UTC), all together", bytes],
    personalPerHour: ["mails of one sender within an hour that count as written by a person", count],
  },
  BATCH_LIMITS: {
    title: "A batch of different emails",
    emails: ["emails", count],
    recipients: ["recipients of all its emails", count],
    idempotencyKey: ["idempotencyKey of an email", characters],
    attachmentBytes: ["attachments of all its emails, each file counted once", bytes],
  },
  TEMPLATE_LIMITS: {
    title: "A template",
    name: ["name", characters],
    slug: ["slug", characters],
    description: ["description", characters],
    category: ["category", characters],
    subject: ["subject", characters],
    source: ["source", characters],
    variables: ["declared variables", count],
    blocks: ["blocks of a template made of blocks", count],
    sourceFiles: ["files that its HTML was rendered from", count],
    sourcePath: ["path of such a file", characters],
    usedBy: ["campaigns, automations and templates that are named as using it, each", count],
    versions: ["versions kept; publishing one more deletes the oldest", count],
    testRecipients: ["recipients of a test send", count],
  },
  BLOCK_LIMITS: {
    title: "A mail in blocks",
    blocks: ["blocks, with those in columns", count],
    heading: ["text of a heading", characters],
    text: ["text of a text block", characters],
    label: ["words of a button", characters],
    alt: ["words in place of a picture", characters],
    href: ["an address", characters],
    columns: ["columns next to each other", count],
    width: ["width of a picture", (value) => `${count(value)} pixels`],
    height: ["height of a spacer", (value) => `${count(value)} pixels`],
  },
  MEMBER_LIMITS: {
    title: "Members",
    invitationHours: ["how long the link in an invitation works", hours],
    mailsPerHour: ["mails with links that a member gets in an hour", count],
  },
  SIGN_IN_LIMITS: {
    title: "The dashboard",
    linkMinutes: ["how long a link to sign in works", (value) => `${count(value)} minutes`],
    idleHours: ["how long a session lasts without a request", (value) => `${count(value)} hours`],
    sessionDays: ["how long a session lasts in all", days],
  },
  CONTACT_LIMITS: {
    title: "A contact",
    tags: ["tags", count],
    tag: ["a tag", characters],
    customBytes: ["custom fields as JSON", bytes],
    customKeys: ["custom fields", count],
    customKey: ["name of a custom field", characters],
    customDepth: ["levels of nested custom fields", count],
    batch: ["contacts whose tags one request changes", count],
    importRows: ["rows of one import request; the command line splits larger files", count],
    search: ["a search", characters],
  },
  LIST_LIMITS: {
    title: "A list",
    name: ["name", characters],
    description: ["description", characters],
    subject: ["subject of the mail that asks for confirmation", characters],
    batch: ["contacts added or removed in one request", count],
    confirmDays: ["how long a confirmation link works", days],
    askAgainMinutes: ["how soon a person who asks again gets another confirmation email", (n) => `${n} minutes`],
  },
  TEXT_LIMITS: {
    title: "A brand's own texts for recipients",
    text: ["a text", characters],
    languages: ["languages", count],
  },
  RULE_LIMITS: {
    title: "The rules of a segment",
    depth: ["levels of nested groups", count],
    conditions: ["conditions", count],
    values: ["values of one condition", count],
    text: ["a value", characters],
    fieldName: ["name of a custom field, a property or an event of yours", characters],
    times: ["times that somebody did something", count],
  },
  CAMPAIGN_LIMITS: {
    title: "A campaign",
    name: ["name", characters],
    subject: ["subject", characters],
    previewText: ["preview text", characters],
    fromName: ["sender's name", characters],
    minVariants: ["variants of an A/B test, at least", count],
    maxVariants: ["variants of an A/B test", count],
    maxPerSecond: ["emails a second of a throttle", count],
    maxDecideAfter: ["time until an A/B test is decided", minutes],
    testRecipients: ["recipients of a test send", count],
    scheduleDays: ["how far ahead a campaign can be scheduled", days],
    groups: ["lists and segments that a campaign goes to, and that it leaves out", count],
  },
  AUTOMATION_LIMITS: {
    title: "An automation",
    name: ["name", characters],
    description: ["description", characters],
    steps: ["steps", count],
    stepId: ["id of a step", characters],
    branches: ["branches of a split", count],
    delayDays: ["a delay", days],
    webhookFields: ["fields that a webhook step sends", count],
    reEntryDelayHours: ["time until a contact may enter again", hours],
    moves: ["steps that one entry takes, loops included, before it fails", count],
  },
  WEBHOOK_LIMITS: {
    title: "Webhooks of a workspace",
    perWorkspace: ["webhooks", count],
    description: ["description", characters],
    events: ["event types, or patterns, of a webhook", count],
    overlapHours: ["how long the old secret signs after a rotation, unless you say otherwise", hours],
    disabledAfterDays: ["failure after which a webhook is disabled", days],
  },
  EVENT_LIMITS: {
    title: "The list of events",
    numbered: ["events of more than two types that have page numbers; cursors go further", count],
  },
  TRACK_LIMITS: {
    title: "Tracked events",
    batch: ["events of a batch", count],
    id: ["id of an event", characters],
    toleranceMinutes: ["how long ago an event may have happened and still trigger something", minutes],
    years: ["how long ago an event may have happened", (n) => `${count(n)} years`],
  },
  FOLLOWER_LIMITS: {
    title: "Connections that follow events",
    perKey: ["of one key, on each server", count],
    perWorkspace: ["of a workspace, on each server", count],
  },
  KEY_LIMITS: {
    title: "Limits of API keys",
    senders: ["addresses and domains that one may send from", count],
    networks: ["networks that one may be used from", count],
  },
  AUDIT_LIMITS: {
    title: "Changes",
    value: ["value of a field that is kept, as JSON", characters],
    fields: ["fields of a change", count],
  },
  REQUEST_LIMITS: {
    title: "Requests that dev mode keeps",
    kept: ["the latest, of all workspaces", count],
    followers: ["connections that follow them", count],
  },
  PROVIDER_LIMITS: {
    title: "Connections to mail providers",
    perWorkspace: ["connections of a workspace", count],
    key: ["key", characters],
    description: ["description", characters],
  },
  RELAY_LIMITS: {
    title: "Relays",
    relays: ["relays that the API adds", count],
    host: ["host", characters],
    secret: ["password, token or private key", characters],
    connections: ["connections at the same time", count],
    perSecond: ["mails per second, if you set a limit", count],
    fallbacks: ["fallbacks of a relay", count],
    dkimKeys: ["DKIM keys of a relay", count],
  },
  RUN_LIMITS: {
    title: "Runs of an agent",
    windowMinutes: ["silence after which a run fails", minutes],
    heartbeatSeconds: ["how often an agent should log", seconds],
    active: ["runs of an activation at a time", count],
    entries: ["log entries of one call", count],
  },
  PROPOSAL_LIMITS: {
    title: "Proposals of agents",
    name: ["a name", characters],
    previewText: ["the preview text", characters],
    html: ["the HTML", characters],
    text: ["the text", characters],
    lists: ["suggested lists", count],
  },
  APPROVAL_LIMITS: {
    title: "Approval requests of an agent",
    options: ["options to choose from", count],
    expiresInSeconds: ["time to answer, unless the agent says otherwise", seconds],
    minSeconds: ["time to answer, at least", seconds],
    maxSeconds: ["time to answer", seconds],
  },
  WAKEUP_LIMITS: {
    title: "Wakeups of an agent",
    minSeconds: ["how far ahead, at least", seconds],
    maxSeconds: ["how far ahead", seconds],
    scheduled: ["scheduled wakeups of an activation", count],
  },
  CREDIT_LIMITS: {
    title: "Credits",
    consume: ["credits of one transaction", count],
    grant: ["credits of one grant", count],
    balance: ["balance of a workspace", count],
    refundHours: ["how long a transaction can be refunded", hours],
  },
  METRICS_LIMITS: {
    title: "Numbers of mail",
    days: ["days of one question", count],
    daysByHour: ["days of one question, by the hour", count],
    values: ["values of a property in one answer", count],
  },
  FILE_LIMITS: {
    title: "Files",
    asset: ["an image", bytes],
    assetPixels: ["pixels of an image, width times height", count],
    leadMagnet: ["a lead magnet", bytes],
    activationBytes: ["all files of an activation", bytes],
    workspaceBytes: ["all files of a workspace", bytes],
    activationFiles: ["files of an activation", count],
    linkHours: ["how long a download link works", hours],
  },
  LANDING_PAGE_LIMITS: {
    title: "Landing pages",
    html: ["html", bytes],
    blocks: ["blocks", count],
    pages: ["pages of a workspace", count],
    downloadDays: ["how long a visitor's download link works", days],
  },
};

const table = (rows) => ["| Limit | At most |", "| --- | --- |", ...rows.map(([what, value]) => `| ${what} | ${value} |`), ""];

/** The limits of a section that follow from another list of the contract. */
const FOLLOWING = { CONTACT_LIMITS: Object.values(contract.CONTACT_TEXTS).map(({ noun, maxLength }) => [noun, characters(maxLength)]) };

/** A section for each table of limits. Throws an Error for a limit that has no meaning here. */
function contractSections() {
  return Object.entries(contract)
    .filter(([name]) => name.endsWith("_LIMITS"))
    .map(([name, limits]) => {
      const rows = Object.entries(limits).map(([key, value]) => {
        const meaning = MEANINGS[name]?.[key];
        if (!meaning) throw new Error(`scripts/limits.mjs: say what ${name}.${key} limits.`);
        return [meaning[0], meaning[1](value)];
      });
      return { name, lines: [`## ${MEANINGS[name].title}`, "", ...table([...(FOLLOWING[name] ?? []), ...rows])] };
    })
    .sort((a, b) => Object.keys(MEANINGS).indexOf(a.name) - Object.keys(MEANINGS).indexOf(b.name))
    .flatMap(({ lines }) => lines);
}

/** The text of docs/reference/limits.md. */
export function limitsPage() {
  const { rates, keepDays, maxBodyBytes, maxConnections } = readConfig({ flags: { data: "." }, env: {}, dev: false });
  const rate = (name) =>
    rates[name].perSecond >= 60 ? `${count(rates[name].perSecond)} a second` : `${count(rates[name].burst)} a minute`;
  const kept = (name) => (keepDays[name] === null ? "for ever" : days(keepDays[name]));
  return [
    "# Limits",
    "",
    "What the service accepts, generated from the code that checks it. A request beyond a limit is answered 400 `validation_error`,",
    "409 `limit_reached`, 413 `payload_too_large` or 429 `rate_limited`, and the answer names the limit.",
    "",
    "## Requests",
    "",
    "An operator can change these with [`--rate-limit`, `--max-body` and `--max-connections`](../self-hosting.md#flags).",
    "",
    ...table([
      ["sends with one key", rate("send")],
      ["other writes with one key", rate("write")],
      ["reads with one key", rate("read")],
      ["calls of an agent's activation", rate("agent")],
      ["messages of an activation", rate("message")],
      ["calls of `runs/log` for one run", rate("log")],
      ["a request's body, files included", bytes(maxBodyBytes)],
      ["fields and items in the JSON of a request, all together", count(MAX_JSON_VALUES)],
      ["open connections of a server", count(maxConnections)],
      ["how long an `Idempotency-Key` is remembered", hours(RETENTION_MS / 3_600_000)],
      ["time in which a webhook has to answer", `${ATTEMPT_TIMEOUT_MS / 1000} seconds`],
    ]),
    ...contractSections(),
    "## A workspace",
    "",
    ...table([["segments", count(contract.MAX_SEGMENTS)]]),
    "## How long records are kept",
    "",
    "An operator can change this with [`--keep`](../self-hosting.md#retention).",
    "",
    ...table([
      ["events of a workspace", kept("events")],
      ["received mail", kept("received")],
      ["deliveries to webhooks", kept("deliveries")],
      ["runs of agents", kept("runs")],
      ["logs of runs", kept("logs")],
      ["daily statistics of landing pages", kept("stats")],
    ]).map((line) => line.replace("| Limit | At most |", "| Records | Kept |")),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}
