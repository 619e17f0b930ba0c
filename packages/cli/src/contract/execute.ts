import type { Endpoint } from "@mailsvc/sdk/contract";
import { cancelledError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { confirm } from "../runtime/prompts.ts";
import { safeText } from "../runtime/safe-text.ts";
import type { Call, CommandSpec, Session } from "../types.ts";
import { isRecord } from "../views/generic.ts";
import { printResult } from "../views/show.ts";

/** Asks before something is gone for good; without a terminal --yes is needed. */
export async function confirmDestructive(session: Session, words: string, target: string): Promise<void> {
  const { globals, term } = session;
  if (globals.yes || globals.dryRun) return;
  const what = `${words}${target === "" ? "" : ` ${target}`}`;
  if (!term.interactive || globals.json)
    throw usageError(`mailsvc ${what} cannot be undone; add --yes to do it without being asked.`, { code: "confirmation_needed" });
  if (!(await confirm(session.host, term, `mailsvc ${what} cannot be undone. Go on?`))) throw cancelledError();
}

/** Adds the --idempotency-key. */
export function withIdempotency(session: Session, call: Call): Call {
  return session.globals.idempotencyKey
    ? { ...call, headers: { ...call.headers, "Idempotency-Key": session.globals.idempotencyKey } }
    : call;
}

// A long poll is answered when its own time is over; the request must outlive it.
const POLL_GRACE_MS = 10_000;

/** Gives a long poll of so many seconds the time it needs. */
export function withPollTime(session: Session, call: Call, seconds: number): Call {
  return {
    ...call,
    timeoutMs: Math.max(session.settings().timeoutMs, seconds * 1000 + POLL_GRACE_MS),
  };
}

/** True for endpoints that hold their answer back until something happens. */
export function isLongPoll(endpoint: Endpoint): boolean {
  return endpoint.method === "GET" && "timeout" in (endpoint.query?.shape ?? {});
}

/** Exit 11 when an answer says that some of it failed, with those named on stderr. */
export function reportPartialFailure(session: Session, data: unknown): Exit {
  const failed: unknown = isRecord(data) ? data["failed"] : undefined;
  if (!Array.isArray(failed) || failed.length === 0) return EXIT.ok;
  const { err } = session.term;
  session.out.note(`${err.yellow("partly done")} ${failed.length} failed:`);
  for (const one of failed as { [name: string]: unknown }[])
    session.out.note(
      `  ${err.bold(safeText(String(one["to"] ?? one["email"] ?? one["contact"] ?? one["entry"] ?? "")))}  ${safeText(String(one["message"] ?? one["code"] ?? ""))}`,
    );
  return EXIT.partial;
}

// Calls that are answered 200 and may still have come to nothing.
const SUCCEEDED: Readonly<Record<string, (answer: { [name: string]: unknown }) => boolean>> = {
  "deliveries.test": ({ ok }) => ok !== false,
  "deliveries.redeliver": ({ lastAttempt }) => isDelivered(lastAttempt),
};

/** Sends a call and prints its answer, or prints the call with --dry-run. */
export async function execute(session: Session, spec: CommandSpec, call: Call): Promise<Exit> {
  if (session.globals.dryRun) {
    await session.printDryRun(call);
    return EXIT.ok;
  }
  const progress = session.progress(isLongPoll(spec.endpoint) ? "Waiting" : call.file ? "Uploading" : "Asking the server");
  const answer = await session.send(call).finally(() => progress.stop());
  if (spec.endpoint.produces) {
    await session.out.text(String(answer.data));
    return EXIT.ok;
  }
  await printResult(session, spec, answer.data);
  if (isRecord(answer.data) && SUCCEEDED[spec.id]?.(answer.data) === false) return EXIT.partial;
  return reportPartialFailure(session, answer.data);
}

function isDelivered(attempt: unknown): boolean {
  return !isRecord(attempt) || attempt["class"] === "ok";
}
