import { and, eq, inArray, isNull, lte } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { AutomationDeps } from "./automations.ts";
import { takeSteps } from "./batch.ts";
import { buildRunJob, findDue } from "./due.ts";
import { type EntryRow, endEntries } from "./entries.ts";
import { loadPlan, type Plan } from "./plan.ts";
import type { AutomationRow } from "./store.ts";

/*
 * A run moves each entry that is inside. All effects of its steps, its path and its own new state are rows of one transaction, so a crash
 * repeats all steps up to the next wait or none of them.
 *
 * | the entry                             | becomes                                                                |
 * | ------------------------------------- | ---------------------------------------------------------------------- |
 * | is not due                            | – : a job will look at it when it is                                   |
 * | is due at a step                      | goes on from step to step, until one waits or the path ends            |
 * | arrives at delay, wait_until          | waits until then, and goes on with the step after it                   |
 * | arrives at wait_for_event             | waits for the event until the timeout                                  |
 * | … and the event comes                 | due at once (`waits.ts`), and goes on by the branch `event`            |
 * | … and the timeout comes               | goes on by the branch `timeout`                                        |
 * | is at the end of its path             | COMPLETED                                                              |
 * | comes to exit                         | EXITED                                                                 |
 * | its contact is deleted                | EXITED (`listener.ts`)                                                 |
 * | has taken a thousand steps            | FAILED: too_many_steps                                                 |
 * | cannot be run, by a fault of ours     | due again after 1 s, 2 s, 4 s …; after ten attempts FAILED: error      |
 * | any, while the automation is PAUSED   | – : activating it looks at all that are due                            |
 *
 * Several servers may run the same automation: each locks the entries it takes, and skips locked ones. Besides another run, a transaction
 * that writes something else of an entry, such as its revenue, may hold the lock: so a run ends only when none is due.
 */

// Entries in one transaction: some ten ms of work, during which other writers wait.
const BATCH = 100;
// Then the job begins anew: its lease must not end while it works.
const MAX_BATCHES = 500;
const MAX_FAILURES = 10;

/** Takes the next steps of all entries of an automation that are due. Jobs that come meanwhile share the next run. */
export function runDueEntries(deps: AutomationDeps): JobHandler {
  const runs = shareRuns((automationId: string) => runDue(deps, automationId));
  return async ({ payload }) => ((await runs(String(payload.automationId))) ? {} : { again: deps.clock.now() });
}

/** Runs what is due. False if there is more. */
async function runDue(deps: AutomationDeps, automationId: string): Promise<boolean> {
  for (let batches = 0; batches < MAX_BATCHES; batches += 1) {
    const due = await findDue(deps.db.read, automationId, deps.clock.now(), BATCH);
    if (due.length === 0) return true;
    // One that failed runs alone, so that it holds up no other.
    const [first] = due.filter(({ failures }) => failures > 0);
    // Null: the automation was paused meanwhile.
    if ((await runBatch(deps, automationId, first ? [first] : due)) === null) return true;
    await yieldToEventLoop();
  }
  return false;
}

type Due = Awaited<ReturnType<typeof findDue>>[number];

/** Runs entries in one transaction, or each alone if that fails. Returns how many were still due; null if the automation no longer runs. */
async function runBatch(deps: AutomationDeps, automationId: string, due: readonly Due[]): Promise<number | null> {
  try {
    const plans = await loadPlans(deps, automationId, due);
    return await deps.db.tx(async (tx) => {
      const claimed = await claim(tx, deps, automationId, due);
      if (claimed === null) return null;
      await takeSteps(tx, deps, claimed.automation, claimed.entries, plans);
      return claimed.entries.length;
    });
  } catch (error) {
    if (deps.db.isUnavailable(error)) throw error;
    const [only, ...others] = due;
    if (only && others.length === 0) return postpone(deps, automationId, only, error);
    let count = 0;
    for (const one of due) count += (await runBatch(deps, automationId, [one])) ?? 0;
    return count;
  }
}

/** The definitions of these entries, by version. */
async function loadPlans(deps: AutomationDeps, automationId: string, due: readonly Due[]): Promise<Map<number, Plan>> {
  const { automations: a } = deps.db.read.t;
  const [automation] = await findRows(deps.db.read, a, { id: automationId });
  const plans = new Map<number, Plan>();
  if (automation)
    for (const version of new Set(due.map((one) => one.version)))
      plans.set(version, await loadPlan(deps.db.read, deps.compiledTemplates, automation.workspaceId, automationId, version));
  return plans;
}

/**
 * Returns the entries that are still due, locked; null if the automation no longer runs. If other transactions have locked all of them,
 * waits for the first one: nobody may look at it again after them.
 */
async function claim(
  tx: Tx,
  deps: AutomationDeps,
  automationId: string,
  due: readonly Due[],
): Promise<{ automation: AutomationRow; entries: EntryRow[] } | null> {
  const { automations: a, automationEntries: e } = tx.t;
  const [automation] = await tx
    .select()
    .from(a)
    .where(and(eq(a.id, automationId), eq(a.status, "ACTIVE"), isNull(a.deletedAt)));
  if (!automation) return null;
  const select = (ids: readonly string[]) =>
    tx
      .select()
      .from(e)
      .where(and(inArray(e.id, [...ids]), eq(e.status, "ACTIVE"), lte(e.dueAt, deps.clock.now())))
      .orderBy(e.id);
  const free = await tx.sqlDialect.passingLocked(select(due.map(({ id }) => id)));
  if (free.length > 0) return { automation, entries: free };
  return { automation, entries: await tx.sqlDialect.awaitingLocked(select(due.slice(0, 1).map(({ id }) => id))) };
}

/** Puts off an entry that cannot be run by a fault of ours, or fails it after too many attempts. */
function postpone(deps: AutomationDeps, automationId: string, { id, failures }: Due, error: unknown): Promise<number> {
  deps.log.error("the next step of an entry failed", { automation: automationId, entry: id, attempt: failures + 1, error: String(error) });
  return deps.db.tx(async (tx) => {
    const claimed = await claim(tx, deps, automationId, [{ id, failures, version: 0 }]);
    const [entry] = claimed?.entries ?? [];
    if (!claimed || !entry) return 0;
    if (failures + 1 >= MAX_FAILURES) await endEntries(tx, deps, [entry], "FAILED", "error");
    else {
      const { automationEntries: e } = tx.t;
      const now = deps.clock.now();
      const dueAt = now + 1000 * 2 ** failures;
      await tx
        .update(e)
        .set({ dueAt, failures: failures + 1 })
        .where(eq(e.id, id));
      await deps.queue.enqueue(tx, buildRunJob(claimed.automation, dueAt, now));
    }
    return 1;
  });
}

/**
 * Runs `work` for one caller at a time, for each key. Callers that come while it runs share one further run, which begins after it: so
 * each gets a run that began after its call.
 */
function shareRuns<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  const waiting = new Map<string, Promise<T>>();
  const start = (key: string): Promise<T> => {
    const run = work(key).finally(() => running.delete(key));
    running.set(key, run);
    return run;
  };
  return (key) => {
    const shared = waiting.get(key);
    if (shared) return shared;
    const current = running.get(key);
    if (!current) return start(key);
    const next = current
      .catch(() => {})
      .then(() => {
        waiting.delete(key);
        return start(key);
      });
    waiting.set(key, next);
    return next;
  };
}
