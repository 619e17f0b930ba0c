import type { ActivationDeps } from "../activations/deps.ts";

/** What plans need. */
export interface PlanDeps extends ActivationDeps {}
