import type { AutomationStep } from "./automation-steps.ts";

/** The branches that lead out of a step; null for a step with one unnamed way on. */
export function listBranches(step: AutomationStep): readonly string[] | null {
  switch (step.type) {
    case "condition":
      return ["yes", "no"];
    case "wait_for_event":
      return ["event", "timeout"];
    case "split":
      return step.branches.map(({ name }) => name);
    default:
      return null;
  }
}

/** True for steps at which every entry waits for a second at least, or for an event. `wait_until` lets pass what is already there. */
export function alwaysWaits({ type }: Pick<AutomationStep, "type">): boolean {
  return type === "delay" || type === "wait_for_event";
}
