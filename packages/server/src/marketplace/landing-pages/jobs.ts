import { inArray, lt } from "drizzle-orm";
import type { Deps } from "../../deps.ts";
import type { JobHandler } from "../../queue/queue.ts";
import { dayOf, FORGET_JOB } from "./salt.ts";

// Rows deleted in one transaction.
const CHUNK = 500;

/** The jobs of landing pages. */
export function pageJobs(deps: Deps): Readonly<Record<string, JobHandler>> {
  return { [FORGET_JOB]: forgetVisitors(deps) };
}

/** Forgets who was seen on days that are over: first the salt, by which alone a hash says anything. */
function forgetVisitors({ db, clock }: Deps): JobHandler {
  return async () => {
    const today = dayOf(clock.now());
    const { landingPageVisitors: v, landingPageSalts: s } = db.read.t;
    const old = await db.read.select({ visitor: v.visitor }).from(v).where(lt(v.date, today)).limit(CHUNK);
    return {
      ...(old.length === CHUNK && { again: clock.now() }),
      commit: async (tx) => {
        await tx.delete(s).where(lt(s.date, today));
        if (old.length > 0)
          await tx.delete(v).where(
            inArray(
              v.visitor,
              old.map(({ visitor }) => visitor),
            ),
          );
      },
    };
  };
}
