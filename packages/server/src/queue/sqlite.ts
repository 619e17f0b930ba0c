import { and, asc, desc, eq, gte, lte, min, sql } from "drizzle-orm";
import type { Queries, Reader, Tx } from "../db/db.ts";
import type { SqliteDb } from "../db/sqlite/database.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import { bundles } from "./bundles.sqlite.ts";
import { backoff, type ClaimedJob, type JobHandler, type JobRow, type NewJob, type Outcome, type Queue } from "./queue.ts";
import type { queueTables } from "./tables.ts";

type Jobs = ReturnType<typeof queueTables>["jobs"];

export interface SqliteQueueOptions {
  db: SqliteDb;
  jobs: Jobs;
  clock: Clock;
  random: Random;
  log: Log;
  /** True while requests are waiting: accepting comes first, so the worker then takes a twentieth of the time. */
  pressed?: () => boolean;
}

const MAX_ATTEMPTS = 10;
// A handler that has not come back after this long (real time) has lost its job; what it commits later is refused.
const LEASE_MS = 10 * 60_000;
// Jobs claimed in one transaction. More would only lengthen the turn of the event loop.
const CLAIM = 32;
// Jobs run at a time while requests are waiting.
const TRICKLE = 4;

// When the database cannot work, it is asked again after this long (real time).
const RETRY_MS = 1000;

const ADDED = Promise.resolve();

/** A claimed job, with the key it had while it waited. */
interface Held extends ClaimedJob {
  readonly dedupeKey: string | null;
}

const ph = sql.placeholder;

/**
 * The queue of a single machine: jobs in the same SQLite file as everything else, run in this process. Woken by the
 * commit that added a job, and by a timer for the next one that falls due: there is no polling.
 */
export function sqliteQueue({ db, jobs, clock, random, log, pressed = () => false }: SqliteQueueOptions): Queue {
  const bundled = bundles(db, jobs);
  const running = new Map<number, Promise<void>>();
  let handlers: Readonly<Record<string, JobHandler>> = {};
  let concurrency = 0;
  let started = false;
  let timer: Timer | null = null;
  let pumping = false;
  let again = false;
  const idle: (() => void)[] = [];

  const newJob = (q: Queries) =>
    q.insert(jobs).values({
      kind: ph("kind"),
      payload: ph("payload"),
      bundle: false,
      state: "ready",
      runAt: ph("runAt"),
      attempts: 0,
      maxAttempts: ph("maxAttempts"),
      dedupeKey: ph("dedupeKey"),
      createdAt: ph("createdAt"),
    });
  const insertJob = (q: Queries) => newJob(q).prepare("enqueue");
  const insertKeyed = (q: Queries) => newJob(q).onConflictDoNothing().prepare("enqueue_keyed");

  const add = async (tx: Tx, { kind, payload, runAt, maxAttempts = MAX_ATTEMPTS, dedupeKey }: NewJob, now: number): Promise<void> => {
    const values: Record<string, unknown> = {
      kind,
      payload,
      runAt: runAt ?? now,
      maxAttempts,
      dedupeKey: dedupeKey ?? null,
      createdAt: now,
    };
    await (dedupeKey === undefined ? tx.prepared("enqueue", insertJob) : tx.prepared("enqueue_keyed", insertKeyed)).execute(values);
  };

  const dueJobs = (tx: Tx, now: number, limit: number) =>
    tx
      .prepared("claim_due", (q) =>
        q
          .select({ id: jobs.id, dedupeKey: jobs.dedupeKey, bundle: jobs.bundle })
          .from(jobs)
          .where(and(eq(jobs.state, "ready"), lte(jobs.runAt, ph("now"))))
          .orderBy(asc(jobs.runAt), asc(jobs.id))
          .limit(ph("limit"))
          .prepare("claim_due"),
      )
      .execute({ now, limit });

  const claim = (limit: number): Promise<Held[]> =>
    db.tx(async (tx) => {
      const now = clock.now();
      let due = await dueJobs(tx, now, limit);
      const closed = due.find(({ bundle }) => bundle);
      if (closed) {
        // One at a time: a hundred rows are enough work for one transaction.
        await bundled.open(tx, closed.id);
        due = (await dueJobs(tx, now, limit)).filter(({ bundle }) => !bundle);
      }
      const claimed: Held[] = [];
      for (const { id, dedupeKey } of due) {
        const [job] = await tx
          .prepared("claim_job", (q) =>
            q
              .update(jobs)
              .set({ state: "running", attempts: sql`${jobs.attempts} + 1`, lockedUntil: sql`${ph("until")}`, dedupeKey: null })
              .where(eq(jobs.id, ph("id")))
              .returning()
              .prepare("claim_job"),
          )
          .execute({ id, until: now + LEASE_MS });
        if (job)
          claimed.push({
            id: String(job.id),
            kind: job.kind,
            payload: payloadOf(job),
            attempt: job.attempts,
            maxAttempts: job.maxAttempts,
            dedupeKey,
          });
      }
      return claimed;
    });

  /** The job as this attempt holds it: an attempt that lost its lease matches no row. */
  const held = (job: Held) => and(eq(jobs.id, Number(job.id)), eq(jobs.attempts, job.attempt), eq(jobs.state, "running"));

  /** The key a job gets back when it waits again: its own, unless another job has taken it meanwhile. */
  const keyAgain = async (tx: Tx, { dedupeKey }: Held): Promise<string | null> =>
    dedupeKey === null || (await tx.$count(jobs, eq(jobs.dedupeKey, dedupeKey))) > 0 ? null : dedupeKey;

  const end = async (tx: Tx, job: Held, outcome: Outcome): Promise<void> => {
    await outcome.commit?.(tx);
    const gone =
      outcome.again === undefined
        ? await tx
            .prepared("end_job", (q) =>
              q
                .delete(jobs)
                .where(and(eq(jobs.id, ph("id")), eq(jobs.attempts, ph("attempt")), eq(jobs.state, "running")))
                .returning({ id: jobs.id })
                .prepare("end_job"),
            )
            .execute({ id: Number(job.id), attempt: job.attempt })
        : await tx
            .update(jobs)
            .set({
              state: "ready",
              runAt: outcome.again,
              maxAttempts: sql`${jobs.maxAttempts} + 1`,
              lockedUntil: null,
              dedupeKey: await keyAgain(tx, job),
            })
            .where(held(job))
            .returning({ id: jobs.id });
    if (gone.length === 0) throw new Error(`Job ${job.id} (${job.kind}) was taken from this attempt; its effect is not committed.`);
    if (outcome.again !== undefined) tx.afterCommit(pump);
  };

  const fail = async (job: Held, error: unknown): Promise<void> => {
    const lastError = (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 500);
    const dead = job.attempt >= job.maxAttempts;
    log.warn("job failed", { job: job.id, kind: job.kind, attempt: job.attempt, dead, error: lastError });
    await db.tx(async (tx) => {
      await tx
        .update(jobs)
        .set({
          state: dead ? "dead" : "ready",
          runAt: clock.now() + backoff(job.attempt, random.fraction()),
          lockedUntil: null,
          dedupeKey: dead ? null : await keyAgain(tx, job),
          lastError,
        })
        .where(held(job));
    });
  };

  /** Notes a failure. While the database cannot take it the job is nobody's, so this tries until it can, or until the queue stops. */
  const noteFailure = async (job: Held, error: unknown): Promise<void> => {
    try {
      await fail(job, error);
    } catch (trouble) {
      log.error("a failed job could not be put back; the next try is in a second", { job: job.id, error: String(trouble) });
      await clock.real.sleep(RETRY_MS);
      // A restart puts back what is left.
      if (started) await noteFailure(job, error);
    }
  };

  const attempt = async (job: Held): Promise<void> => {
    let lease: Timer | undefined;
    try {
      const handler = handlers[job.kind];
      if (!handler) throw new Error(`There is no handler for jobs of kind ${job.kind}.`);
      const lost = new Promise<never>((_, reject) => {
        lease = clock.real.after(LEASE_MS, () => reject(new Error("The attempt took longer than its lease of 10 minutes.")));
      });
      const outcome = await Promise.race([handler(job), lost]);
      await db.tx((tx) => end(tx, job, outcome));
    } catch (error) {
      await noteFailure(job, error);
    } finally {
      lease?.cancel();
    }
  };

  const arm = async (): Promise<void> => {
    const [next] = await db.read
      .prepared("next_due", (q) =>
        (q as Queries)
          .select({ at: min(jobs.runAt), kind: jobs.kind })
          .from(jobs)
          .where(eq(jobs.state, "ready"))
          .prepare("next_due"),
      )
      .execute({});
    timer?.cancel();
    timer = next?.at == null ? null : clock.after(next.at - clock.now(), next.kind, pump);
  };

  const settle = (): void => {
    if (running.size > 0 || pumping) return;
    for (const done of idle.splice(0)) done();
  };

  const begin = (job: Held): Promise<void> => {
    const work = attempt(job).finally(() => {
      running.delete(Number(job.id));
      pump();
      settle();
    });
    running.set(Number(job.id), work);
    return work;
  };

  /** While requests are waiting: a few jobs, then a rest of nineteen times as long as they took. */
  const trickle = async (): Promise<boolean> => {
    const since = clock.real.now();
    await Promise.all(running.values());
    const few = Math.min(TRICKLE, concurrency);
    const claimed = await claim(few);
    await Promise.all(claimed.map(begin));
    await clock.real.sleep(Math.min((clock.real.now() - since) * 19, 200));
    return claimed.length === few;
  };

  const drain = async (): Promise<void> => {
    while (started) {
      if (pressed()) {
        if (!(await trickle())) return arm();
        continue;
      }
      const free = Math.min(concurrency - running.size, CLAIM);
      if (free <= 0) return;
      const claimed = await claim(free);
      for (const job of claimed) void begin(job);
      if (claimed.length < free) return arm();
    }
  };

  /** Takes what is due. Called again while it runs, it goes round once more. */
  function pump(): void {
    if (!started) return;
    again = true;
    if (pumping) return;
    pumping = true;
    void (async () => {
      try {
        while (again) {
          again = false;
          await drain();
        }
      } catch (error) {
        log.error("the queue could not take jobs; it tries again in a second", { error: String(error) });
        clock.real.after(RETRY_MS, pump);
      } finally {
        pumping = false;
        settle();
      }
    })();
  }

  return {
    workers: null,
    enqueue: (tx, job: NewJob) => {
      const now = clock.now();
      tx.afterCommit(pump);
      if (job.dedupeKey !== undefined || (job.runAt ?? now) > now || !started || !pressed()) return add(tx, job, now);
      const { kind, payload, maxAttempts = MAX_ATTEMPTS } = job;
      bundled.add({ kind, payload, maxAttempts, createdAt: now });
      return ADDED;
    },
    start: async (byKind, limit) => {
      handlers = byKind;
      concurrency = limit;
      // This process holds the folder's lock, so whoever held these leases is dead.
      await db.tx(async (tx) => {
        const orphaned = eq(jobs.state, "running");
        const spent = and(orphaned, gte(jobs.attempts, jobs.maxAttempts));
        await tx.update(jobs).set({ state: "dead", lockedUntil: null, lastError: "The process died in the last attempt." }).where(spent);
        await tx.update(jobs).set({ state: "ready", lockedUntil: null }).where(orphaned);
      });
      started = true;
      pump();
    },
    stop: async () => {
      started = false;
      // A claim may be under way: what it takes is run, and ended, before the queue has stopped.
      if (running.size > 0 || pumping) await new Promise<void>((done) => idle.push(done));
      timer?.cancel();
    },
    idle: async () => {
      await db.writer.idle();
      if (!started) return;
      pump();
      await new Promise<void>((done) => {
        idle.push(done);
        settle();
      });
    },
    refresh: pump,
    list: async (read: Reader, { workspaceId, state, limit, offset }) => {
      const where = and(
        state && eq(jobs.state, state),
        workspaceId === undefined ? undefined : sql`${jobs.payload} ->> 'workspaceId' = ${workspaceId}`,
      );
      const rows = await read.select().from(jobs).where(where).orderBy(desc(jobs.id)).limit(limit).offset(offset);
      return { rows: rows.map(row), total: await read.$count(jobs, where) };
    },
    get: async (read, id) => {
      const [found] = /^\d{1,15}$/.test(id)
        ? await read
            .select()
            .from(jobs)
            .where(eq(jobs.id, Number(id)))
        : [];
      return found ? row(found) : null;
    },
    retry: async (tx, id) => {
      if (!/^\d{1,15}$/.test(id)) return null;
      const [revived] = await tx
        .update(jobs)
        .set({ state: "ready", attempts: 0, runAt: clock.now() })
        .where(and(eq(jobs.id, Number(id)), eq(jobs.state, "dead")))
        .returning();
      if (revived) tx.afterCommit(pump);
      return revived ? row(revived) : null;
    },
  };
}

// A bundle that nobody has opened yet shows the first of its jobs.
function payloadOf({ payload }: Pick<Jobs["$inferSelect"], "payload">): JobRow["payload"] {
  return Array.isArray(payload) ? (payload[0] as JobRow["payload"]) : payload;
}

function row({ bundle: _, ...r }: Jobs["$inferSelect"]): JobRow {
  return { ...r, id: String(r.id), payload: payloadOf(r) };
}
