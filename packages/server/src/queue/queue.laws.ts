import { describe } from "vitest";
import { lawsContext, type QueueHarness } from "../../test/queue-laws-context.ts";
import { batchLaws } from "./batch.laws.ts";
import { failingLaws } from "./failing.laws.ts";
import { runningLaws } from "./running.laws.ts";
import { stoppingLaws } from "./stopping.laws.ts";
import { unhandledLaws } from "./unhandled.laws.ts";

export type { QueueHarness } from "../../test/queue-laws-context.ts";

/** Laws of every queue, whatever its database. */
export function queueLaws(title: string, open: () => Promise<QueueHarness>): void {
  describe(title, () => {
    const t = lawsContext(open);
    runningLaws(t);
    failingLaws(t);
    stoppingLaws(t);
    batchLaws(t);
    unhandledLaws(t);
  });
}
