import { type CounterChange, deleteCounters, getCounters, incrementCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { EntryRow } from "./entries.ts";
import type { StepResult } from "./steps.ts";

/** How many entries took a step, over all versions of the definition. */
export interface StepCounts {
  /** Done: for a step that waits, the entries that came to it. */
  readonly done: number;
  readonly skipped: number;
  readonly waiting: number;
  readonly branches: ReadonlyMap<string, number>;
}

// A step's id has no colon, and a branch is the rest of the kind.
const KIND = /^(done|skipped|waiting|branch):([^:]+)(?::(.*))?$/;

/** Counts a step that an entry has taken, in the transaction that moves the entry on. */
export async function countMove(
  tx: Tx,
  before: EntryRow,
  after: EntryRow,
  { stepId, outcome, branch }: Pick<StepResult, "outcome" | "branch"> & { readonly stepId: string },
): Promise<void> {
  const changes: CounterChange[] = [{ kind: `${outcome}:${stepId}`, seq: after.contactSeq, by: 1 }];
  if (branch !== undefined) changes.push({ kind: `branch:${stepId}:${branch}`, seq: after.contactSeq, by: 1 });
  if (before.waitingIn !== null) changes.push({ kind: `waiting:${before.waitingIn}`, seq: after.contactSeq, by: -1 });
  if (after.waitingIn !== null) changes.push({ kind: `waiting:${after.waitingIn}`, seq: after.contactSeq, by: 1 });
  await incrementCounters(tx, ownerOf(after.automationId), changes);
}

/** Counts the end of an entry: it waits nowhere any more. */
export async function countEnd(tx: Tx, { automationId, waitingIn, contactSeq }: EntryRow): Promise<void> {
  if (waitingIn !== null) await incrementCounters(tx, ownerOf(automationId), [{ kind: `waiting:${waitingIn}`, seq: contactSeq, by: -1 }]);
}

/** The counts of the steps of an automation, by their ids. Steps that no entry came to are absent. */
export async function readStepCounts(q: Tx | Reader, automationId: string): Promise<Map<string, StepCounts>> {
  const counts = new Map<string, { done: number; skipped: number; waiting: number; branches: Map<string, number> }>();
  const owner = ownerOf(automationId);
  for (const [kind, count] of (await getCounters(q, [owner])).get(owner) ?? []) {
    const [, what, stepId = "", branch = ""] = KIND.exec(kind) ?? [];
    const own = counts.get(stepId) ?? { done: 0, skipped: 0, waiting: 0, branches: new Map() };
    if (what === "branch") own.branches.set(branch, count);
    else own[what as "done" | "skipped" | "waiting"] = count;
    counts.set(stepId, own);
  }
  return counts;
}

export async function deleteStepCounts(tx: Tx, automationId: string): Promise<void> {
  await deleteCounters(tx, ownerOf(automationId));
}

/** Beside the counters of the automation itself, which every list reads. */
function ownerOf(automationId: string): string {
  return `${automationId}:steps`;
}
