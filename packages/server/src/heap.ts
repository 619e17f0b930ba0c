import { setFlagsFromString } from "node:v8";
import type { Clock, Timer } from "./lib/clock.ts";

// V8 lets the 25 MB of old objects grow to 140 before it collects them. While a campaign is sent they may grow by 70 %: it needs 80 MB
// less, and is as fast; with 50 % it is a tenth slower. At 100 connections that send single mails even 100 % would cost 3 % of the
// processor, so it ends with the campaign.
const IN_BULK = "--heap-growing-percent=70";
const V8_DECIDES = "--heap-growing-percent=0";
// A campaign with a throttle releases some mail every few seconds.
export const REST_MS = 10_000;

/** Makes what is to be called for each part of work in bulk: it keeps the heap of this process small until `REST_MS` after the last call. */
export function createHeapSaver({ after }: Pick<Clock["real"], "after">, setFlag = setFlagsFromString): () => void {
  let rest: Timer | null = null;
  return () => {
    if (rest === null) setFlag(IN_BULK);
    rest?.cancel();
    rest = after(REST_MS, () => {
      rest = null;
      setFlag(V8_DECIDES);
    });
  };
}
