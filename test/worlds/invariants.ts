import { ENDS } from "./invariants/ends.ts";
import type { Invariant } from "./invariants/invariant.ts";
import { ONCE, REFUSALS } from "./invariants/mails.ts";
import { AGAIN, KEYS, WHY } from "./invariants/rest.ts";
import { APART, EVENTS, WEBHOOKS } from "./invariants/stream.ts";
import { SUMS } from "./invariants/sums.ts";

/** All that holds in every world at rest. The last one starts another server, so nothing comes after it. */
export const INVARIANTS: readonly Invariant[] = [ENDS, SUMS, REFUSALS, ONCE, EVENTS, WEBHOOKS, KEYS, WHY, APART, AGAIN];
