import type { Session } from "../types.ts";
import { CliError, cancelledError, toFailure } from "./errors.ts";
import { OutputClosed } from "./output.ts";

/** A failure after a write that the server has accepted. */
export class AfterAccepted extends CliError {}

/** A write that the server has answered. */
export interface Accepted {
  readonly data: unknown;
  /** Prints the answer when nothing better comes. */
  readonly print: () => Promise<void>;
  /** Command that shows the outcome. */
  readonly next?: string;
}

/** Ids of what an answer names. */
export function listIds(data: unknown): string[] {
  const answer = (data ?? {}) as { id?: unknown; ids?: unknown };
  const ids = Array.isArray(answer.ids) ? answer.ids : [answer.id];
  return ids.filter((id): id is string => typeof id === "string");
}

/** "Accepted as em_…; its outcome is not known." */
export function describeAccepted(data: unknown): string {
  const ids = listIds(data);
  const named = ids.length === 0 ? "" : ` as ${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ` and ${ids.length - 5} more` : ""}`;
  return `Accepted${named}; ${ids.length > 1 ? "their outcomes are" : "its outcome is"} not known.`;
}

/**
 * Does what follows a write that the server has accepted, such as waiting for its outcome and printing it. When that fails, the answer of the
 * write is printed and the failure begins with what was accepted, so that nobody takes it for a write that was not done.
 */
export async function afterAccepted<T>(session: Session, { data, print, next }: Accepted, rest: () => Promise<T>): Promise<T> {
  try {
    return await rest();
  } catch (error) {
    if (error instanceof AfterAccepted) throw error;
    const said = describeAccepted(data);
    // stdout is closed, so stderr alone can tell.
    if (error instanceof OutputClosed) {
      session.out.note(said);
      throw error;
    }
    await print().catch(() => {});
    const failure = session.signal.aborted ? cancelledError().failure : toFailure(error, session.flagOf, session.settings().url);
    throw new AfterAccepted({ ...failure, message: `${said} ${failure.message}`, ...(next !== undefined && { next }) });
  }
}
