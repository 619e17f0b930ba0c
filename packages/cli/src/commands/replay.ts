import type { Mailsvc } from "@mailsvc/sdk";
import { AGENT_EVENT_TYPES, EVENT_TYPES } from "@mailsvc/sdk/contract";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { readInstant } from "../contract/values.ts";
import { type AttemptResult, attemptDelivery, STANDARD_ONLY, TAMPERINGS, type Tampering } from "../listen/attempt.ts";
import { matchesPattern, parseTarget, readPatterns } from "../listen/routes.ts";
import { readSecret } from "../listen/secret.ts";
import type { OutgoingEvent } from "../listen/signed-headers.ts";
import { toForwarded } from "../listen/sources.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { cancelledError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";

const HELP = `
Exit 0 when the webhook took all of it, and with --tamper when it refused all of it; 11 otherwise.

Examples:
  mailsvc replay evt_0000000001a --forward-to http://127.0.0.1:3000/webhook
  mailsvc replay --since 1h --type 'email.*' --forward-to 3000/webhook --duplicate --reorder
  mailsvc replay evt_0000000001a --forward-to 3000/webhook --tamper body`;

/** `mailsvc replay`: sends events of the past to a webhook on this machine, as they were, or as networks and attackers make them. */
export function replayCommand(run: Run): Command {
  const command = new Command("replay")
    .description("Send events of the past to a webhook on this machine: once more, twice, in another order, or forged")
    .addArgument(new Argument("[id...]", "Ids of events"))
    .addOption(new Option("--since <time>", "All events since then: 1h, yesterday, 2030-01-31T09:30:00Z, or a sequence such as 1042"))
    .addOption(new Option("--type <types>", "Only events of these types, with commas between them; email.* for all of a kind"))
    .addOption(
      new Option("--forward-to <url>", "Where they go, such as http://127.0.0.1:3000/webhook or 3000/webhook").makeOptionMandatory(),
    )
    .addOption(new Option("--agent <slug>", "Events for the webhook of your agent, instead of those of the workspace"))
    .addOption(new Option("--secret <secret>", "Signs the requests: the secret of the real webhook (MAILSVC_WEBHOOK_SECRET)"))
    .addOption(new Option("--duplicate [times]", "Send each event this often (default 2), under the same id").argParser(parseTimes))
    .addOption(new Option("--reorder", "The last event first"))
    .addOption(
      new Option("--tamper <part>", "Send each request with another body, a wrong signature, or a timestamp of an hour ago").choices(
        TAMPERINGS,
      ),
    )
    .addHelpText("after", HELP);
  return runAction(command, run, "connect", replay);
}

async function replay(session: Session, args: readonly unknown[], flags: Flags): Promise<Exit> {
  const { host, out, signal } = session;
  const url = parseTarget(String(flags["forwardTo"]), "--forward-to");
  const tampering = flags["tamper"] as Tampering | undefined;
  const events = await readEvents(
    session,
    args.flat().filter((id) => typeof id === "string"),
    flags,
  );
  if (events.length === 0) out.note("There is no such event.");
  const { value: secret } = readSecret(session, flags);
  const times = flags["duplicate"] === true ? 2 : ((flags["duplicate"] as number | undefined) ?? 1);
  let bad = 0;
  for (const event of flags["reorder"] === true ? events.toReversed() : events)
    for (let attempt = 1; attempt <= times; attempt += 1) {
      if (signal.aborted) throw cancelledError();
      const parts = { secret, fetch: globalThis.fetch, listens: (at: URL) => host.listens(at), now: host.now, signal };
      const result = await attemptDelivery(event, url, parts, attempt, tampering);
      let problem = judge(result, tampering);
      if (problem === null && tampering === "timestamp")
        problem = judgeClock(result, await attemptDelivery(event, url, parts, attempt, STANDARD_ONLY));
      if (problem !== null) bad += 1;
      await tell(session, event, result, problem);
    }
  return bad > 0 ? EXIT.partial : EXIT.ok;
}

/** Returns the fault of an answer; null if it is right. A tampered request must be refused with a 4xx. */
function judge({ status, error }: AttemptResult, tampering: Tampering | undefined): string | null {
  if (tampering === undefined) return error;
  if (status === null) return error;
  if (status < 300) return `accepted a request whose ${tampering} was tampered with`;
  return status < 500 ? null : `answered ${status}, not 401`;
}

/**
 * Returns the reason a refusal does not show that the webhook checks the time; null if it does. A webhook that verifies only
 * X-Service-Signature refuses each request that lacks this header, even one with the right time.
 */
function judgeClock(refused: AttemptResult, { status, error }: AttemptResult): string | null {
  if (status === null) return error;
  if (status !== refused.status) return null;
  return `answered ${status} to the right timestamp too: a webhook that verifies X-Service-Signature only does not check the time`;
}

async function tell({ out, term }: Session, event: OutgoingEvent, result: AttemptResult, problem: string | null): Promise<void> {
  const { url, attempt, status, ms } = result;
  if (out.json) return out.line({ id: event.id, type: event.type, at: event.at, url, attempt, status, ms, problem });
  const { out: style } = term;
  const outcome = problem === null ? style.green(String(status)) : style.red(problem);
  const repeat = attempt > 1 ? style.dim(`, attempt ${attempt}`) : "";
  await out.text(
    `${style.dim(event.at.slice(0, 19).replace("T", " "))} ${event.type}  ${safeText(event.id)}  ${outcome} in ${ms} ms${repeat}\n`,
  );
}

async function readEvents(session: Session, ids: readonly string[], flags: Flags): Promise<OutgoingEvent[]> {
  const agent = flags["agent"];
  const since = flags["since"];
  const type = flags["type"] === undefined ? undefined : String(flags["type"]);
  const patterns = readPatterns(type, agent === undefined ? EVENT_TYPES : AGENT_EVENT_TYPES);
  if (ids.length > 0 === (since !== undefined)) throw usageError("Give the ids of events, or --since.", { next: "mailsvc replay --help" });
  const client = await session.client();
  const isWanted = (event: OutgoingEvent): boolean => patterns?.some((pattern) => matchesPattern(pattern, event.type)) ?? true;
  if (typeof agent === "string")
    return (await readAgentEvents(session, client, agent, { ids, since: since as string | undefined })).filter(isWanted);
  if (since === undefined) return (await Promise.all(ids.map(async (id) => toForwarded(await client.events.get(id))))).filter(isWanted);
  const span = /^\d{1,15}$/.test(String(since)) ? { after: Number(since) - 1 } : { since: await readSince(session, String(since)) };
  const events = await client.events.list({ ...span, limit: 100, ...(type !== undefined && { type }) }).toArray();
  return events.sort((a, b) => a.sequence - b.sequence).map(toForwarded);
}

async function readAgentEvents(
  session: Session,
  client: Mailsvc,
  slug: string,
  { ids, since }: { ids: readonly string[]; since: string | undefined },
): Promise<OutgoingEvent[]> {
  const from = since === undefined ? null : Date.parse(await readSince(session, since));
  const wanted = [...ids];
  if (from !== null) {
    for await (const { id, timestamp } of client.deliveries.list(slug, { limit: 100 })) {
      if (Date.parse(timestamp) < from) break;
      wanted.unshift(id);
    }
  }
  return Promise.all(
    wanted.map(async (id) => {
      const { type, timestamp: at, body } = await client.deliveries.get(slug, id);
      return { id, type, at, body };
    }),
  );
}

/** `1h` is an hour ago, by the server's clock. */
async function readSince(session: Session, text: string): Promise<string> {
  return readInstant("--since", text, () => session.serverNow(false), "past");
}

function parseTimes(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError("Write a number from 1 to 99.");
  return Number(text);
}
