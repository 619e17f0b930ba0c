import { reachGoal } from "../entries.ts";
import { DONE, type StepKind } from "./step.ts";

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
