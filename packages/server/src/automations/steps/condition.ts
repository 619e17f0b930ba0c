import { loadContactViews, loadCounts, matches } from "../../segments/segments.ts";
import type { StepKind } from "./step.ts";

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
