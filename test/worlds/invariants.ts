import { AGAIN } from "./invariants/again.ts";
import { APART } from "./invariants/apart.ts";
import { ARRIVES } from "./invariants/arrives.ts";
import { AUDITED } from "./invariants/audited.ts";
import { CONTENT } from "./invariants/content.ts";
import { ENDS } from "./invariants/ends.ts";
import { FOLLOWS } from "./invariants/follows.ts";
import { FORGOTTEN } from "./invariants/forgotten.ts";
import type { Invariant } from "./invariants/invariant.ts";
import { KEPT } from "./invariants/kept.ts";
import { KEYS } from "./invariants/keys.ts";
import { LEFT } from "./invariants/left.ts";
import { ONCE, REFUSALS } from "./invariants/mails.ts";
import { EARLY, STILL } from "./invariants/still.ts";
import { STORY } from "./invariants/story.ts";
import { EVENTS, WEBHOOKS } from "./invariants/stream.ts";
import { SUMS } from "./invariants/sums.ts";
import { WHY } from "./invariants/why.ts";

/** All that holds in every world at rest. The last one starts another server, so nothing comes after it. */
export const INVARIANTS: readonly Invariant[] = [
  ...[ENDS, SUMS, REFUSALS, ONCE, ARRIVES, STILL, EARLY, STORY, EVENTS, WEBHOOKS, FOLLOWS],
  ...[CONTENT, KEYS, AUDITED, APART, WHY, FORGOTTEN, LEFT, KEPT, AGAIN],
];
