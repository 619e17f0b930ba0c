import type { ActivationDeps } from "../activations/deps.ts";

export interface PlanDeps extends ActivationDeps {}
