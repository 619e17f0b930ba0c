import { type AutomationStats, type AutomationStep, listBranches, type StepStats } from "@mailsvc/sdk/contract";
import { getCounters } from "../counters/counters.ts";
import type { Reader } from "../db/db.ts";
import { readStepCounts, type StepCounts } from "./step-counts.ts";
import { getAutomationRow, getVersionRow } from "./store.ts";

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
