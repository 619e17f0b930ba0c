import { eq } from "drizzle-orm";
import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { endActivations } from "../activations/transitions.ts";
import { UNCOVERED_JOB, UNCOVERED_MS } from "./plans.ts";

/** Deactivates an agent that has been without cover for 30 days. One that was covered meanwhile starts anew. */
export function planJobs(deps: Deps): Readonly<Record<string, JobHandler>> {
  return {
    [UNCOVERED_JOB]: async ({ payload }) => {
      const id = String(payload.activationId);
      const { db, clock } = deps;
      const since = async (q: Pick<typeof db.read, "select" | "t">): Promise<number | null> => {
        const { activations: a } = q.t;
        const [row] = await q.select({ uncoveredAt: a.uncoveredAt }).from(a).where(eq(a.id, id));
        return row?.uncoveredAt ?? null;
      };
      const uncoveredAt = await since(db.read);
      if (uncoveredAt === null) return {};
      if (clock.now() < uncoveredAt + UNCOVERED_MS) return { again: uncoveredAt + UNCOVERED_MS };
      return {
        commit: async (tx) => {
          if ((await since(tx)) === uncoveredAt) await endActivations(tx, deps, [id], "plan_downgrade");
        },
      };
    },
  };
}
