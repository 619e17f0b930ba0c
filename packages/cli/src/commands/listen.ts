import type { Mailsvc } from "@mailsvc/sdk";
import { AGENT_EVENT_TYPES, EVENT_TYPES, type Settings } from "@mailsvc/sdk/contract";
import { Command, InvalidArgumentError, Option } from "commander";
import { Forwarder, KEPT_IDS } from "../listen/forwarder.ts";
import { PositionFile, type StoredPosition } from "../listen/position-file.ts";
import { Report } from "../listen/report.ts";
import { matchesPattern, Routes, readPatterns } from "../listen/routes.ts";
import { readSecret, type SigningSecret } from "../listen/secret.ts";
import {
  type AgentStart,
  countAgentEvents,
  type EventFilter,
  findAgentEnd,
  findLastSequence,
  followAgent,
  followWorkspace,
} from "../listen/sources.ts";
import { RegisteredWebhook } from "../listen/webhook.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { hasStatus, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { CTRL_C, listenToKeys } from "../runtime/keys.ts";
import { createClient } from "../runtime/transport.ts";
import type { Session } from "../types.ts";

const FILTERS = ["to", "email", "tag", "campaign", "automation", "contact"] as const;
// Interval between writes of the position.
const SAVE_MS = 1000;

const HELP = `
Requests have the bytes and headers of a real webhook in the format mailsvc and are signed with
--secret, or with a secret made from the API key, which is shown. Events wait while nothing
listens, and the connection is made again after sleep and restarts, without a gap.

Examples:
  mailsvc listen --forward-to http://127.0.0.1:3000/webhook
  mailsvc listen --route email.bounced=3000/bounces --route 'contact.*=3000/contacts'
  mailsvc listen --forward-to 3000 --webhook whk_01jc3v2m9k8q4w6x0y5z7a1b2c --secret $WEBHOOK_SECRET
  mailsvc listen --forward-to 3000/webhook --agent launch-writer --secret $AGENT_WEBHOOK_SECRET
  mailsvc listen --forward-to 3000/webhook --agent launch-writer --activate --secret $AGENT_WEBHOOK_SECRET`;

/** `mailsvc listen`: brings the events of a server to webhooks on this machine, without a tunnel. */
export function listenCommand(run: Run): Command {
  const command = new Command("listen")
    .description("Forward events to a webhook on this machine, signed as real ones")
    .addOption(new Option("--forward-to <url>", "Where events go, such as http://127.0.0.1:3000/webhook or 3000/webhook"))
    .addOption(new Option("--route <type=url...>", "Where events of a type go, such as email.bounced=URL or email.*=URL"))
    .addOption(new Option("--type <types>", "Only events of these types, with commas between them; email.* for all of a kind"))
    .addOption(new Option("--to <email>", "Only events of emails to this address"))
    .addOption(new Option("--email <id>", "Only events of this email"))
    .addOption(new Option("--tag <name=value>", "Only events of emails with this tag"))
    .addOption(new Option("--campaign <id>", "Only events of this campaign"))
    .addOption(new Option("--automation <id>", "Only events of this automation"))
    .addOption(new Option("--contact <id>", "Only events of this contact"))
    .addOption(new Option("--webhook <id>", "The events of this webhook of yours, at the path of its URL"))
    .addOption(new Option("--agent <slug>", "The events for the webhook of your agent, instead of those of the workspace"))
    .addOption(new Option("--activate", "With --agent: turn it on in your own workspace and forward its key, also as a draft"))
    .addOption(new Option("--settings <json>", "With --activate: values for the settings that the agent has, as JSON or @file"))
    .addOption(new Option("--secret <secret>", "Signs the requests: the secret of the real webhook (MAILSVC_WEBHOOK_SECRET)"))
    .addOption(new Option("--print-secret", "Print the secret that signs without --secret, and end"))
    .addOption(new Option("--from <sequence>", "Begin with the event of this sequence").argParser(parsePositive))
    .addOption(new Option("--resume", "Begin where the last run ended"))
    .addOption(new Option("--count <n>", "End after this many events; exit 11 if one of them failed").argParser(parsePositive))
    .addHelpText("after", HELP);
  return runAction(command, run, "connect", async (session, _args, flags): Promise<Exit> => {
    const secret = readSecret(session, flags);
    if (flags["printSecret"] === true) {
      await session.client();
      await session.out.data({ secret: secret.value }, () => secret.value);
      return EXIT.ok;
    }
    return listen(session, flags, secret);
  });
}

async function listen(session: Session, flags: Flags, secret: SigningSecret): Promise<Exit> {
  const agent = readText(flags, "agent");
  const turnsOn = flags["activate"] === true;
  if (turnsOn && agent === undefined) throw usageError("--activate is for --agent.");
  const given = readText(flags, "settings");
  if (given !== undefined && !turnsOn) throw usageError("--settings is for --activate.");
  const settings = given === undefined ? undefined : ((await session.input.json(given, "--settings")) as Settings);
  const types: readonly string[] = agent === undefined ? EVENT_TYPES : AGENT_EVENT_TYPES;
  const webhook = await readWebhook(session, flags);
  const forwardTo = readText(flags, "forwardTo");
  const target = forwardTo === undefined ? undefined : (webhook?.locate(forwardTo) ?? forwardTo);
  const routes = new Routes((flags["route"] as readonly string[] | undefined) ?? [], target, types);
  const patterns = webhook?.patterns ?? readPatterns(readText(flags, "type"), types);
  const filter = { ...readFilter(flags, agent !== undefined), ...(webhook?.filter !== undefined && { type: webhook.filter }) };
  const { host } = session;
  const report = new Report(session);
  const ended = new AbortController();
  let failure: unknown = null;
  /** Ends with the first report that cannot be written, such as when the reader of the pipe has left. */
  const endIfFailed = async (reported: Promise<void>): Promise<void> => {
    try {
      await reported;
    } catch (error) {
      failure ??= error;
      ended.abort();
    }
  };
  let savedAt = host.now();
  const save = (): void => {
    savedAt = host.now();
    positions.write({ position: forwarder.position, done: [...(start?.known ?? []), ...forwarder.done].slice(-KEPT_IDS) });
  };
  const signal = AbortSignal.any([session.signal, ended.signal]);
  const forwarder = new Forwarder({
    secret: secret.value,
    fetch: globalThis.fetch,
    listens: (url) => host.listens(url),
    now: host.now,
    sleep: (ms, until) => host.sleep(ms, until),
    signal,
    findUrl: (type) => routes.findUrl(type),
    report: async (result) => {
      await endIfFailed(report.attempt(result));
      if (host.now() - savedAt >= SAVE_MS) save();
    },
    waits: (url) => void endIfFailed(report.waits(url)),
    repeats: (result) => void endIfFailed(report.repeats(result)),
  });
  const client = await createClient(
    session,
    () => true,
    () => void endIfFailed(report.lost(forwarder.position)),
  );
  const { workspace } = await client.me.get();
  const positions = new PositionFile(host, { url: session.settings().url, workspaceId: workspace.id, agent });
  const stored = positions.read();
  // Found before the connection is made, so that no event is lost meanwhile.
  const start = agent === undefined ? null : (readAgentStart(flags, stored) ?? (await findAgentEnd(client, agent)));
  const source =
    agent !== undefined && start !== null
      ? followAgent(client, agent, start, signal, turnsOn)
      : followWorkspace(client, filter, readStart(flags, stored) ?? (await findLastSequence(client)) + 1, signal);
  await report.ready(routes.urls, secret, webhook?.id ?? null);
  if (turnsOn && agent !== undefined) await turnOn(session, client, agent, settings);
  if (stored !== null && flags["from"] === undefined && flags["resume"] !== true)
    await tellMissed(client, report, { stored, filter, agent });
  const release = listenToKeys(session, (key) => {
    if (key === CTRL_C) ended.abort();
    else if (key === "r")
      void forwarder.repeat().then(
        (repeated) => repeated || session.out.note("There is no event to repeat yet."),
        () => ended.abort(),
      );
  });
  try {
    const limit = flags["count"] as number | undefined;
    let accepted = 0;
    for await (const event of source) {
      if (routes.findUrl(event.type) === null) continue;
      // The stream of an agent's events has no filter for several types.
      if (patterns?.some((pattern) => matchesPattern(pattern, event.type)) === false || webhook?.gets(event) === false) continue;
      await forwarder.add(event);
      accepted += 1;
      if (accepted === limit) break;
    }
    await forwarder.settle();
  } finally {
    release();
    save();
  }
  if (failure !== null) throw failure;
  await report.ended(forwarder.position);
  return flags["count"] !== undefined && report.failed > 0 ? EXIT.partial : EXIT.ok;
}

/** Turns an agent on in the workspace of its builder, with all that its listing asks for. Throws CliError, or ApiError but for one that is on. */
async function turnOn(session: Session, client: Mailsvc, agent: string, settings: Settings | undefined): Promise<void> {
  const { permissions } = await client.listings.get(agent);
  try {
    const { id } = await client.activations.create({
      agentSlug: agent,
      acceptedPermissions: permissions,
      ...(settings !== undefined && { settings }),
    });
    session.out.note(`${agent} is on in your workspace: ${id}. Its key is forwarded.`);
  } catch (error) {
    if (!hasStatus(error, 409)) throw error;
    session.out.note(`${agent} is on already. For a new key, turn it off first: mailsvc activations deactivate`);
  }
}

/** The webhook of --webhook; null without it. Throws CliError. */
async function readWebhook(session: Session, flags: Flags): Promise<RegisteredWebhook | null> {
  const id = readText(flags, "webhook");
  if (id === undefined) return null;
  for (const name of ["type", "agent"])
    if (readText(flags, name) !== undefined) throw usageError(`--webhook says which events are wanted, so that it takes no --${name}.`);
  return RegisteredWebhook.read(session, id);
}

function readText(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function readFilter(flags: Flags, ofAgent: boolean): EventFilter {
  const given = FILTERS.filter((name) => readText(flags, name) !== undefined);
  if (ofAgent && given[0] !== undefined) throw usageError(`--${given[0]} is no filter for the events of an agent.`);
  if (ofAgent && flags["from"] !== undefined)
    throw usageError("--from is for the events of the workspace.", {
      hint: "The events of an agent go on where they ended with --resume.",
    });
  return Object.fromEntries(
    ["type", ...FILTERS].flatMap((name) => (readText(flags, name) === undefined ? [] : [[name, readText(flags, name)]])),
  );
}

function readStart(flags: Flags, stored: StoredPosition | null): number | undefined {
  if (flags["from"] !== undefined) return flags["from"] as number;
  return flags["resume"] === true && typeof stored?.position === "number" ? stored.position + 1 : undefined;
}

function readAgentStart(flags: Flags, stored: StoredPosition | null): AgentStart | undefined {
  return flags["resume"] === true ? toAgentStart(stored) : undefined;
}

function toAgentStart(stored: StoredPosition | null): AgentStart | undefined {
  return typeof stored?.position === "string" ? { after: stored.position, known: stored.done } : undefined;
}

/** Says how many events happened since the last run; those of a workspace only as far as the filter lets them through. */
async function tellMissed(
  client: Mailsvc,
  report: Report,
  { stored, filter, agent }: { stored: StoredPosition; filter: EventFilter; agent: string | undefined },
): Promise<void> {
  const start = toAgentStart(stored);
  if (agent !== undefined && start !== undefined) {
    const total = await countAgentEvents(client, agent, start);
    if (total > 0) await report.missed(total, start.after, agent);
  } else if (typeof stored.position === "number") {
    const { total } = (await client.events.list({ ...filter, after: stored.position, limit: 1 })).pagination;
    if (total > 0) await report.missed(total, stored.position + 1, undefined);
  }
}

function parsePositive(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("Write a whole number from 1.");
  return Number(text);
}
