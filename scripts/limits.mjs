// The page of limits, docs/reference/limits.md, generated from the limits of the contract and the server's defaults.
import * as contract from "@mailsvc/sdk/contract";
import { readConfig } from "../packages/server/src/config.ts";
import { MAX_JSON_VALUES } from "../packages/server/src/http/body/json.ts";
import { RETENTION_MS } from "../packages/server/src/http/idempotency.ts";
import { ATTEMPT_TIMEOUT_MS } from "../packages/server/src/webhooks/attempt.ts";

const count = (n) => n.toLocaleString("en");
const bytes = (n) => (n % 2 ** 20 === 0 ? `${count(n / 2 ** 20)} MiB` : n % 1024 === 0 ? `${count(n / 1024)} KiB` : `${count(n)} bytes`);
const days = (n) => `${count(n)} ${n === 1 ? "day" : "days"}`;
const hours = (n) => (n % 24 === 0 && n > 24 ? days(n / 24) : `${count(n)} ${n === 1 ? "hour" : "hours"}`);

/** Formats of numbers, by their unit. */
const FORMATS = {
  characters: (n) => `${count(n)} characters`,
  bytes,
  pixels: (n) => `${count(n)} pixels`,
  seconds: (n) => (n % 86_400 === 0 ? days(n / 86_400) : n === 60 ? "1 minute" : `${count(n)} seconds`),
  minutes: (n) => (n % 1440 === 0 ? days(n / 1440) : `${count(n)} minutes`),
  hours,
  days,
  years: (n) => `${count(n)} years`,
};

const table = (rows) => ["| Limit | At most |", "| --- | --- |", ...rows.map(([what, value]) => `| ${what} | ${value} |`), ""];

/** Rows that follow from another list of the contract, before those of a section. */
const FOLLOWING = {
  CONTACT_LIMITS: Object.values(contract.CONTACT_TEXTS).map(({ noun, maxLength }) => [noun, FORMATS.characters(maxLength)]),
};

const NOUNS = Object.values(contract.NOUNS_BY_TOPIC).flatMap((nouns) => Object.keys(nouns));

/** A section for each table of limits, in the order of the nouns; of one noun, the longest first. Throws an Error for one without words. */
function contractSections() {
  return Object.entries(contract)
    .filter(([name]) => name.endsWith("_LIMITS"))
    .map(([name, numbers]) => {
      const section = contract.findLimitSection(numbers);
      if (section === null) throw new Error(`Declare ${name} by \`limits\`, with the words of each number.`);
      const { noun, title, rows } = section;
      if (!NOUNS.includes(noun)) throw new Error(`${name} names "${noun}", which is not a noun of the contract.`);
      const own = Object.values(rows).map(([most, words, unit]) => [words, unit === undefined ? count(most) : FORMATS[unit](most)]);
      return { noun, title, rows: [...(FOLLOWING[name] ?? []), ...own] };
    })
    .sort((a, b) => NOUNS.indexOf(a.noun) - NOUNS.indexOf(b.noun) || b.rows.length - a.rows.length)
    .flatMap(({ title, rows }) => [`## ${title}`, "", ...table(rows)]);
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
