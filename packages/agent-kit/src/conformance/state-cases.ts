import { LIFE_CASES } from "./life-cases.ts";
import { RESTART_CASES } from "./restart-cases.ts";
import type { StateCase } from "./state-case.ts";

/** Everything an agent must do over the life of its activations, in the order in which it is graded. */
export const STATE_CASES: readonly StateCase[] = [...LIFE_CASES, ...RESTART_CASES];
