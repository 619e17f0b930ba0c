import { contract, EMAIL_STATES, EMAIL_STATUSES, type EmailDetail, type EmailStatus } from "@mailsvc/sdk/contract";
import { type Accepted, afterAccepted, describeAccepted, listIds } from "../runtime/accepted.ts";
import { cancelledError, hasStatus } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import { safeText } from "../text/safe-text.ts";
import { formatInstant } from "../text/units.ts";
import type { Failure, Session } from "../types.ts";
import { paintStatus } from "../views/status.ts";
import { findObstacle } from "./obstacle.ts";

const FIRST_POLL_MS = 100;
const SLOWEST_POLL_MS = 2000;
const WAITING: ReadonlySet<EmailStatus> = new Set(EMAIL_STATUSES.filter((status) => EMAIL_STATES[status].open));
const FAILED: ReadonlySet<EmailStatus> = new Set(EMAIL_STATUSES.filter((status) => EMAIL_STATES[status].next.length === 0));

/** An email to one recipient; `id` is that of the recipient. */
interface TrackedEmail {
  id: string;
  status: string;
  to: string;
  lastError: { message: string } | null;
  nextAttemptAt: string | null;
}

/**
 * Prints the answer to a send, waits until each recipient has got the mail or it has failed, and prints their status. Exit 12 when all failed,
 * 11 when some did, 10 when some still wait at the time limit, 0 with a note when the key may not read.
 */
export async function waitAndShow(session: Session, data: unknown, view: () => string, limitMs: number): Promise<Exit> {
  const { out, globals } = session;
  const ids = listIds(data);
  const next = ids[0] && `mailsvc emails get ${ids[0]}`;
  const accepted = (print: () => Promise<void>): Accepted => ({ data, print, ...(next && { next }) });
  const end = await afterAccepted(
    session,
    accepted(async () => {}),
    () => out.begin(data as object, view),
  );
  if (globals.jq !== undefined) out.note(`Accepted as ${ids.map(safeText).join(", ")}.`);
  // The first fields of the document are out already.
  const endEarly = (): Promise<void> => end({}, () => "");
  return afterAccepted(session, accepted(endEarly), async () => {
    const emails = await pollUntilFinal(session, ids, limitMs).catch((error) => {
      if (!hasStatus(error, 403)) throw error;
      return null;
    });
    if (emails === null) {
      await endEarly();
      out.note(`${describeAccepted(data)} This key may not read it.`);
      return EXIT.ok;
    }
    await end({ emails }, () => formatReport(session, emails));
    return judge(session, emails, limitMs);
  });
}

async function judge(session: Session, emails: readonly TrackedEmail[], limitMs: number): Promise<Exit> {
  const open = emails.filter((e) => WAITING.has(e.status as EmailStatus));
  if (open.length === 0) return getExit(emails);
  const obstacle = await findObstacle(
    session,
    open.map(({ to }) => to),
  );
  const deferred = open.find(({ lastError }) => lastError !== null);
  const hint = [deferred && describeDeferral(deferred), obstacle?.reason].filter(Boolean).join(" ");
  const late: Failure = {
    code: "timeout",
    message: `${open.length === 1 ? "The email is" : `${open.length} emails are`} accepted, but not delivered after ${limitMs / 1000} s.`,
    exit: EXIT.network,
    ...(hint && { hint }),
    next: obstacle?.next ?? `mailsvc emails get ${(deferred ?? open[0])?.id}`,
  };
  session.out.fail(late, session.globals.json);
  return EXIT.network;
}

/** Polls until no email waits for any recipient, or until the time limit. Returns the last status of each recipient. */
async function pollUntilFinal(session: Session, ids: readonly string[], limitMs: number): Promise<TrackedEmail[]> {
  const { host, signal } = session;
  // On a terminal the document that has begun stands where a spinner would be.
  const isQuiet = session.out.json && session.term.stdoutTTY;
  const progress = isQuiet ? null : session.progress(ids.length === 1 ? "Waiting for delivery" : `Waiting for ${ids.length} deliveries`);
  const until = host.now() + limitMs;
  const seen = new Map<string, readonly TrackedEmail[]>();
  const isOpen = ({ status }: TrackedEmail): boolean => WAITING.has(status as EmailStatus);
  const open = (): string[] => ids.filter((id) => seen.get(id)?.some(isOpen) ?? true);
  try {
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, SLOWEST_POLL_MS)) {
      for (const id of open()) {
        const { data } = await session.send(buildCall(contract.emails.get, [id], {}, undefined));
        const { recipients } = data as EmailDetail;
        seen.set(
          id,
          recipients.map(({ id, status, email, lastError, nextAttemptAt }) => ({ id, status, to: email, lastError, nextAttemptAt })),
        );
      }
      if (open().length === 0 || host.now() >= until) return [...seen.values()].flat();
      if (signal.aborted) throw cancelledError();
      await host.sleep(Math.min(pause, Math.max(1, until - host.now())), signal);
    }
  } finally {
    progress?.stop();
  }
}

function describeDeferral({ lastError, nextAttemptAt }: TrackedEmail): string {
  const next = nextAttemptAt === null ? "" : ` The next attempt is due at ${formatInstant(nextAttemptAt)}.`;
  return `The last attempt failed: ${safeText(lastError?.message ?? "")}${next}`;
}

function formatReport(session: Session, emails: readonly TrackedEmail[]): string {
  return emails
    .map(
      (e) =>
        `${paintStatus(session.term.out, e.status)} ${safeText(e.to)}  ${safeText(e.id)}${e.lastError ? `\n  ${safeText(e.lastError.message)}` : ""}`,
    )
    .join("\n");
}

function getExit(emails: readonly TrackedEmail[]): Exit {
  const failed = emails.filter((e) => FAILED.has(e.status as EmailStatus)).length;
  return failed === 0 ? EXIT.ok : failed === emails.length ? EXIT.undelivered : EXIT.partial;
}
