import { type AutomationStats, type AutomationStep, listBranches, type StepStats } from "@mailsvc/sdk/contract";
import { type CounterChange, deleteCounters, getCounters, incrementCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { EntryRow } from "./entries.ts";
import { getAutomationRow, getVersionRow } from "./store.ts";

/** Number of entries that took a step, over all versions of the definition. */
interface StepCounts {
  /** Done: for a step that waits, the entries that came to it. */
  readonly done: number;
  readonly skipped: number;
  readonly waiting: number;
  readonly branches: ReadonlyMap<string, number>;
}

// A step's id has no colon, and a branch is the rest of the kind.
const KIND = /^(done|skipped|waiting|branch):([^:]+)(?::(.*))?$/;

/** Counts what entries did at steps, in the transaction that moves them on: kinds such as `done:welcome` or `branch:ask:yes`. */
export function countSteps(tx: Tx, automationId: string, changes: readonly CounterChange[]): Promise<void> {
  return incrementCounters(tx, ownerOf(automationId), changes);
}

/** Counts the end of entries of an automation: they wait nowhere any more. */
export function countEnds(tx: Tx, automationId: string, entries: readonly Pick<EntryRow, "waitingIn" | "contactSeq">[]): Promise<void> {
  const changes = entries.flatMap(({ waitingIn, contactSeq: seq }) =>
    waitingIn === null ? [] : [{ kind: `waiting:${waitingIn}`, seq, by: -1 }],
  );
  return countSteps(tx, automationId, changes);
}

/** The counts of the steps of an automation, by their ids. Steps that no entry came to are absent. */
async function readStepCounts(q: Tx | Reader, automationId: string): Promise<Map<string, StepCounts>> {
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

const NONE: StepCounts = { done: 0, skipped: 0, waiting: 0, branches: new Map() };

/** The numbers of an automation and of its steps, which equal a count of its entries at all times. Throws ApiError not_found. */
export async function getStats(read: Reader, workspaceId: string, id: string): Promise<AutomationStats> {
  const row = await getAutomationRow(read, workspaceId, id);
  const { steps } = await getVersionRow(read, id, row.version);
  const counts = await readStepCounts(read, id);
  const totals = (await getCounters(read, [id])).get(id);
  const count = (kind: string): number => totals?.get(kind) ?? 0;
  const [entered, completed, exited, failed] = [count("entered"), count("COMPLETED"), count("EXITED"), count("FAILED")];
  const former = [...counts.keys()].filter((stepId) => !steps.some((step) => step.id === stepId)).sort();
  return {
    automationId: id,
    entered,
    inside: entered - completed - exited - failed,
    completed,
    exited,
    failed,
    goalConversions: count("goal"),
    steps: [
      ...steps.map((step) => showStep(step.id, step, counts.get(step.id) ?? NONE)),
      ...former.map((stepId) => showStep(stepId, null, counts.get(stepId) ?? NONE)),
    ],
  };
}

/** `step` is null for one that the newest version does not have. */
function showStep(stepId: string, step: AutomationStep | null, { done, skipped, waiting, branches }: StepCounts): StepStats {
  const names = step === null ? [] : (listBranches(step) ?? []);
  return {
    stepId,
    type: step?.type ?? null,
    entered: done + skipped,
    waiting,
    completed: done - waiting,
    skipped,
    branches:
      names.length === 0 && branches.size === 0
        ? null
        : { ...Object.fromEntries(names.map((name) => [name, 0])), ...Object.fromEntries(branches) },
  };
}
