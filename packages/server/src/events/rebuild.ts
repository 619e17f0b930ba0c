import { type contract, READERS, type ReaderName } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { Handlers } from "../http/handler.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { DAY } from "../lib/units.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { ReaderRebuildDeps } from "./deps.ts";
import { loadStreamEnds } from "./runs.ts";

/** Job kind: rebuilds what a reader keeps of a workspace, a part in each transaction. */
export const REBUILD_READER_JOB = "events.rebuild_reader";

/** A part of a rebuild. */
export interface RebuildPart {
  /** The time (ms) from which on events count; null for all of them. */
  readonly from: number | null;
  /** The place that the part before has reached, as the reader counts; 0 at the beginning. */
  readonly after: number;
}

/** Rebuilds the next part of what a reader keeps of a workspace, and returns the place that it has reached; null at the end. */
type RebuildStep = (tx: Tx, workspaceId: string, part: RebuildPart) => Promise<number | null>;

export const readerHandlers: Handlers<typeof contract.readers, ReaderRebuildDeps> = {
  list: async (_input, { read, deps: { eventReaders } }) => {
    const unread = eventReaders.countUnread(await loadStreamEnds(read));
    return {
      data: Object.entries(READERS).map(([name, { keeps }]) => ({
        name: name as ReaderName,
        keeps,
        unread: unread.get(name) ?? 0,
        failing: eventReaders.failing
          .filter(({ reader }) => reader === name)
          .map(({ workspaceId, since, error }) => ({ workspaceId, since: iso(since), error })),
      })),
    };
  },
  rebuild: async ({ name, from }, { tx, deps }) => {
    assertRebuilt(name);
    const start = findStart(deps, from);
    const workspaces = [...(await loadStreamEnds(tx)).keys()];
    for (const workspaceId of workspaces)
      await deps.queue.enqueue(tx, { kind: REBUILD_READER_JOB, payload: { name, workspaceId, from: start, after: 0 } });
    return { name, workspaces: workspaces.length, from: start === null ? null : iso(start) };
  },
};

/** Throws ApiError not_found, and invalid_state for a reader whose work does not follow from the log alone. */
function assertRebuilt(name: string): asserts name is ReaderName {
  if (!Object.hasOwn(READERS, name))
    throw new ApiError(
      "not_found",
      `There is no reader ${JSON.stringify(name.slice(0, 100))}. There are: ${Object.keys(READERS).join(", ")}.`,
    );
  const { keeps, rebuilt } = READERS[name as ReaderName];
  if (rebuilt) return;
  throw new ApiError(
    "invalid_state",
    keeps === null
      ? `The reader ${name} acts on people and mail as events come, and keeps nothing. Acting on old events again would be wrong.`
      : `Part of ${keeps} is counted while mail is sent, not by the reader ${name}, so the log does not have all of it. \`campaigns verify ID\` compares.`,
  );
}

/** The start of the first day (UTC) whose events are all in the log; null where none are deleted. Throws ApiError for an earlier `from`. */
function findStart({ clock, config }: ReaderRebuildDeps, from: string | undefined): number | null {
  const kept = config.keepDays.events;
  const first = kept === null ? null : Math.ceil((clock.now() - kept * DAY) / DAY) * DAY;
  if (from === undefined) return first;
  const start = Date.parse(`${from}T00:00:00Z`);
  if (start > clock.now()) throw invalid("from", "in_future", "from must not be in the future.");
  if (first !== null && start < first)
    throw new ApiError(
      "invalid_state",
      `This server deletes events after ${kept} days (--keep), so nothing from before ${iso(first).slice(0, 10)} can be rebuilt. What is kept of it stays.`,
    );
  return start;
}

/** Rebuilds part after part; a crash repeats one at most, which changes nothing. */
export function rebuildReader(deps: ReaderRebuildDeps, steps: Readonly<Record<string, RebuildStep>>): JobHandler {
  return async ({ payload }) => {
    const { name, workspaceId, from, after } = payload as unknown as RebuildPart & { readonly name: string; readonly workspaceId: string };
    const step = steps[name];
    if (step === undefined) throw new Error(`The reader ${name} cannot be rebuilt.`);
    return {
      commit: async (tx) => {
        // Days may pass between the request and a part, and with them events are deleted.
        const first = findStart(deps, undefined);
        const start = first === null ? from : Math.max(first, from ?? first);
        const reached = await step(tx, workspaceId, { from: start, after });
        if (reached !== null)
          await deps.queue.enqueue(tx, { kind: REBUILD_READER_JOB, payload: { name, workspaceId, from, after: reached } });
      },
    };
  };
}
