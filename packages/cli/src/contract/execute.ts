import { Bytes, type Endpoint } from "@mailsvc/sdk/contract";
import { afterAccepted } from "../runtime/accepted.ts";
import { cancelledError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { confirm } from "../runtime/prompts.ts";
import { isWrite } from "../runtime/request.ts";
import { isRecord } from "../text/generic.ts";
import { safeText } from "../text/safe-text.ts";
import type { Answer, Call, CommandSpec, Session } from "../types.ts";
import { printResult } from "./show.ts";

/** Asks before a command with an effect that cannot be undone, or another grave one. Without a terminal, throws CliError unless --yes is given. */
export async function confirmDestructive(session: Session, words: string, target: string, effect = "cannot be undone"): Promise<void> {
  const { globals, term } = session;
  if (globals.yes || globals.dryRun) return;
  const what = `${words}${target === "" ? "" : ` ${target}`}`;
  if (!term.interactive || globals.json)
    throw usageError(`mailsvc ${what} ${effect}. Add --yes to confirm.`, { code: "confirmation_needed" });
  if (!(await confirm(session.host, term, `mailsvc ${what} ${effect}. Continue?`))) throw cancelledError();
}

/** Adds the --idempotency-key to a call. Throws CliError for `auto` with a time that depends on when the command runs. */
export async function withIdempotency(session: Session, call: Call): Promise<Call> {
  const given = session.globals.idempotencyKey;
  if (given === undefined) return call;
  if (given === "auto" && session.usesClock)
    throw usageError("--idempotency-key auto needs times that stay the same when the command is repeated.", {
      hint: "Write the time in full, such as 2030-01-31T09:30:00Z, or give a key of your own.",
    });
  return { ...call, headers: { ...call.headers, "Idempotency-Key": given === "auto" ? await makeKey(call) : given } };
}

/** An Idempotency-Key that is the same for the same request. */
async function makeKey({ method, path, query, body, file }: Call): Promise<string> {
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256").update(JSON.stringify([method, path, query, body ?? null]));
  if (file) hash.update(file.name).update(file.content);
  return `auto-${hash.digest("hex").slice(0, 40)}`;
}

/** True for endpoints that wait for an event before they respond. */
export function isLongPoll(endpoint: Endpoint): boolean {
  return endpoint.method === "GET" && "timeout" in (endpoint.query?.shape ?? {});
}

/** Lists on stderr the items that a response reports as failed. Returns exit code 11 when there are any. */
export function reportPartialFailure(session: Session, data: unknown): Exit {
  const failed: unknown = isRecord(data) ? data["failed"] : undefined;
  if (!Array.isArray(failed) || failed.length === 0) return EXIT.ok;
  const { err } = session.term;
  session.out.note(`${err.yellow("partial failure")} ${failed.length} failed:`);
  for (const one of failed as { [name: string]: unknown }[])
    session.out.note(
      `  ${err.bold(safeText(String(one["to"] ?? one["email"] ?? one["contact"] ?? one["entry"] ?? "")))}  ${safeText(String(one["message"] ?? one["code"] ?? ""))}`,
    );
  return EXIT.partial;
}

/** Success tests of operations whose response may be 200 although they failed. */
export const SUCCEEDED: Readonly<Record<string, (answer: { [name: string]: unknown }) => boolean>> = {
  "senders.verify": ({ status }) => status === "VERIFIED",
  "deliveries.test": ({ ok }) => ok !== false,
  "webhooks.test": ({ ok }) => ok !== false,
  "relays.test": ({ ok }) => ok !== false,
  "me.checkRelays": ({ ok }) => ok !== false,
  "domains.check": ({ ok }) => ok !== false,
  "webhooks.redeliver": ({ lastAttempt }) => isDelivered(lastAttempt),
  "deliveries.redeliver": ({ lastAttempt }) => isDelivered(lastAttempt),
};

/** Sends a call and prints the response, unless `instead` handles it; with --dry-run, prints the call instead. */
export async function execute(
  session: Session,
  spec: CommandSpec,
  call: Call,
  instead?: (data: unknown) => Promise<Exit | null>,
): Promise<Exit> {
  if (session.globals.dryRun) {
    await session.printDryRun(call);
    return EXIT.ok;
  }
  const progress = session.progress(isLongPoll(spec.endpoint) ? "Waiting" : call.file ? "Uploading" : "Waiting for the server");
  const answer = await session.send(call).finally(() => progress.stop());
  const { data } = answer;
  const print = (): Promise<void> => printResult(session, spec, data);
  return isWrite(call.method)
    ? afterAccepted(session, { data, print }, () => show(session, spec, answer, instead))
    : show(session, spec, answer, instead);
}

/** Prints the response to a call, unless `instead` handles it. */
async function show(session: Session, spec: CommandSpec, answer: Answer, instead?: (data: unknown) => Promise<Exit | null>): Promise<Exit> {
  const handled = await instead?.(answer.data);
  if (handled !== undefined && handled !== null) return handled;
  if (spec.endpoint.produces) {
    // A terminal gets text only: the bytes of a received file may hold control characters.
    if (spec.endpoint.output === Bytes && !session.term.stdoutTTY) await session.out.bytes(answer.bytes);
    else await session.out.text(new TextDecoder().decode(answer.bytes));
    return EXIT.ok;
  }
  await printResult(session, spec, answer.data);
  if (isRecord(answer.data) && SUCCEEDED[spec.id]?.(answer.data) === false) return EXIT.partial;
  return reportPartialFailure(session, answer.data);
}

function isDelivered(attempt: unknown): boolean {
  return !isRecord(attempt) || attempt["class"] === "ok";
}
