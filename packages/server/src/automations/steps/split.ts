import { createHash } from "node:crypto";
import type { EntryRow } from "../entries.ts";
import type { StepKind, StepOf } from "./step.ts";

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
