import { loadContactViews, matches } from "../../segments/segments.ts";
import type { StepKind } from "./step.ts";

/** Asks a question about each contact, as the steps before it left it. */
export const condition: StepKind<"condition"> = {
  perform: async ({ tx, automation, now }, entries) => {
    const seqs = entries.map(({ contact }) => contact.seq);
    const views = await loadContactViews(tx, automation.workspaceId, seqs);
    return entries.map(({ contact, step }) => {
      const view = views.get(contact.seq)?.view;
      return { outcome: "done", branch: view && matches(view, step.rule, now) ? "yes" : "no" };
    });
  },
  foresee: async (_context, { view, at }, step) => ({ branch: matches(view, step.rule, at) ? "yes" : "no" }),
};
