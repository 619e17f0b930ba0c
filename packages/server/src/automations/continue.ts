import { and, asc, eq, gt, lte } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { AutomationRow } from "./automations.ts";
import { buildStepJob } from "./entries.ts";

/** Job kind: enqueues the entries that became due while their automation was paused. */
export const CONTINUE_JOB = "automations.continue";

// Entries enqueued in one transaction.
const CHUNK = 500;

// Jobs that come later still wait in the queue. The margin is for servers whose clocks differ: a second job of an entry does nothing.
const MARGIN_MS = 300_000;

export async function enqueueContinue(tx: Tx, deps: Deps, { workspaceId, id }: Pick<AutomationRow, "workspaceId" | "id">): Promise<void> {
  await deps.queue.enqueue(tx, { kind: CONTINUE_JOB, payload: { workspaceId, automationId: id, after: "" } });
}

/** Enqueues a chunk of the entries that became due during the pause. While an automation is paused, their jobs end without an effect. */
export function continueEntries(deps: Deps): JobHandler {
  return async ({ payload }) => {
    const [workspaceId, automationId, after] = [String(payload.workspaceId), String(payload.automationId), String(payload.after)];
    const now = deps.clock.now();
    const { automationEntries: t } = deps.db.read.t;
    const entries = await deps.db.read
      .select()
      .from(t)
      .where(and(eq(t.automationId, automationId), eq(t.status, "ACTIVE"), gt(t.id, after), lte(t.dueAt, now + MARGIN_MS)))
      .orderBy(asc(t.id))
      .limit(CHUNK);
    return {
      commit: async (tx) => {
        for (const entry of entries) await deps.queue.enqueue(tx, buildStepJob(entry, now));
        const last = entries.at(-1);
        if (last && entries.length === CHUNK)
          await deps.queue.enqueue(tx, { kind: CONTINUE_JOB, payload: { workspaceId, automationId, after: last.id } });
      },
    };
  };
}
