import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import type { Clock, Timer } from "./lib/clock.ts";

// V8 lets the 25 MB of old objects grow to 140 before it collects them. While work is done in bulk they may grow by 70 %: a campaign
// needs 80 MB less, and is as fast; with 50 % it is a tenth slower. At 100 connections that send single mails even 100 % would cost 3 %
// of the processor, so it ends with the bulk work.
const SMALL_OLD_SPACE = "--heap-growing-percent=70";
// V8 doubles the space of new objects up to two halves of 64 MB, the sooner the more work is done. In bulk it stays at two of 16 MB: 70 MB
// less, at nearly the same speed. On its way to a mail server an email lives through more collections and would become an old object: with
// halves of 16 MB it costs a tenth more of the processor, with 32 nothing. V8 takes an upper limit only at the start of the process, where
// any flag makes it refuse cached code, but reads this factor at each growth.
const NEW_SPACE = { captured: 2 * 16 * 2 ** 20, sent: 2 * 32 * 2 ** 20 };
const KEEP_NEW_SPACE = "--semi-space-growth-factor=1";
const V8_DECIDES = ["--heap-growing-percent=0", "--semi-space-growth-factor=2"];
// A campaign with a throttle releases some mail every few seconds.
export const REST_MS = 10_000;

/** How the heap of this process is seen and steered. */
export interface Heap {
  setFlag(flag: string): void;
  /** The bytes V8 has reserved for new objects. */
  newSpace(): number;
}

const ownHeap: Heap = {
  setFlag: setFlagsFromString,
  newSpace: () => getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0,
};

/**
 * Makes what is to be called for each part of work in bulk: it keeps the heap of this process small until `REST_MS` after the last call,
 * for emails that are captured or sent to a mail server.
 */
export function createHeapSaver({ after }: Pick<Clock["real"], "after">, emails: keyof typeof NEW_SPACE, heap: Heap = ownHeap): () => void {
  let rest: Timer | null = null;
  let grows = true;
  return () => {
    if (rest === null) heap.setFlag(SMALL_OLD_SPACE);
    if (grows && heap.newSpace() >= NEW_SPACE[emails]) {
      grows = false;
      heap.setFlag(KEEP_NEW_SPACE);
    }
    rest?.cancel();
    rest = after(REST_MS, () => {
      rest = null;
      grows = true;
      for (const flag of V8_DECIDES) heap.setFlag(flag);
    });
  };
}
