import { createHash } from "node:crypto";
import { loadContactViews, loadCounts, matches } from "../../segments/segments.ts";
import { type EntryRow, reachGoal } from "../entries.ts";
import { DONE, type StepKind, type StepOf } from "./step.ts";

export const split: StepKind<"split"> = {
  perform: async (_context, entries) => entries.map(({ step, entry }) => ({ outcome: "done", branch: pickBranch(step, entry) })),
  foresee: async ({ automation }, { contact }, step) => ({
    branch: pickBranch(step, { automationId: automation.id, contactId: contact.id }),
  }),
};

/** The branch of a split. The same contact always takes the same one, and the weights hold among all contacts. */
export function pickBranch(
  { id, branches }: StepOf<"split">,
  { automationId, contactId }: Pick<EntryRow, "automationId" | "contactId">,
): string {
  const hash = createHash("sha256").update(`${automationId} ${id} ${contactId}`).digest().readUInt32BE(0);
  const total = branches.reduce((sum, { weight }) => sum + weight, 0);
  let left = (hash / 2 ** 32) * total;
  for (const { name, weight } of branches) {
    left -= weight;
    if (left < 0) return name;
  }
  return (branches.at(-1) as { name: string }).name;
}

/** Asks a question about each contact, as the steps before it left it. */
export const condition: StepKind<"condition"> = {
  perform: async ({ tx, automation, now }, entries) => {
    const seqs = entries.map(({ contact }) => contact.seq);
    const rules = [...new Set(entries.map(({ step }) => step.rule))];
    const views = await loadContactViews(tx, automation.workspaceId, seqs, rules, now);
    return entries.map(({ contact, step }) => {
      const view = views.get(contact.seq)?.view;
      return { outcome: "done", branch: view && matches(view, step.rule, now) ? "yes" : "no" };
    });
  },
  foresee: async ({ read }, { view, contact, at }, { rule }) => {
    const countsOf = await loadCounts({ q: read, workspaceId: contact.workspaceId, now: at }, [contact.seq], [rule]);
    return { branch: matches({ ...view, counts: countsOf(contact.seq) }, rule, at) ? "yes" : "no" };
  },
};

/** Reaches the goal, as the event of the goal does. */
export const goal: StepKind<"goal"> = {
  perform: async ({ tx, deps }, entries) => {
    await reachGoal(
      tx,
      deps,
      entries.map(({ entry }) => entry),
    );
    return entries.map(() => DONE);
  },
  foresee: async () => ({}),
};

export const exit: StepKind<"exit"> = {
  perform: async (_context, entries) => entries.map(({ step }) => ({ outcome: "done", reason: step.reason ?? "exit", exit: true })),
  foresee: async (_context, _traveller, step) => ({ exit: step.reason ?? "exit" }),
};
