import { and, asc, desc, eq, gt, gte, inArray, lt, lte, notInArray, type SQL, sql } from "drizzle-orm";
import type { Arg, Queries, Reader, Schema, Tx } from "../db/db.ts";
import type { Total } from "../db/pagination.ts";
import type { SqliteDb } from "../db/sqlite/database.ts";
import { jobBatches } from "./job-batches.sqlite.ts";
import type { Addition, JobStore } from "./job-store.ts";
import { PAUSED_LANES, readPause } from "./pause.ts";
import {
  type ClaimedJob,
  INTERRUPTED,
  type JobFilter,
  type JobList,
  type JobRow,
  LANES,
  type Lane,
  type LaneJob,
  MAX_INTERRUPTIONS,
  type QueueStats,
} from "./queue.ts";
import { DEAD, type JobState, PAYLOAD_WORKSPACE, type queueTables } from "./tables.ts";

export type JobsTable = ReturnType<typeof queueTables>["jobs"];

/** A claimed job, with the key it had while it was ready. */
interface ClaimedRow extends LaneJob {
  readonly dedupeKey: string | null;
}

// For the display only: the worker itself gives up an attempt after this long.
const LEASE_MS = 10 * 60_000;

// Rows counted for a list or a metric, at most.
const MAX_COUNTED = 10_000;

// So many rows are read and sorted in 2 ms.
const FEW = 1000;

/** Jobs in the SQLite file of a single process: there is no other worker to tell or to take over from. */
export function sqliteJobStore(db: SqliteDb, jobs: JobsTable): JobStore {
  const batches = jobBatches(db, jobs);

  const insert = (q: Queries, _: Schema, arg: Arg) =>
    q.insert(jobs).values({
      kind: arg("kind"),
      payload: arg("payload"),
      batch: false,
      state: "ready",
      runAt: arg("runAt"),
      attempts: 0,
      maxAttempts: arg("maxAttempts"),
      dedupeKey: arg("dedupeKey"),
      createdAt: arg("createdAt"),
      lane: arg("lane"),
    });
  const addOne = async (tx: Tx, job: Addition): Promise<void> => {
    const row = { ...job, lane: LANES.indexOf(job.lane) };
    if (job.dedupeKey === null) await tx.prepared("enqueue", insert).execute(row);
    else await tx.prepared("enqueue_keyed", (...parts) => insert(...parts).onConflictDoNothing()).execute(row);
  };

  const selectDue = (tx: Tx, now: number, lane: Lane, limit: number) =>
    tx
      .prepared("claim_due", (q, _, arg) =>
        q
          .select({ id: jobs.id, dedupeKey: jobs.dedupeKey, batch: jobs.batch })
          .from(jobs)
          .where(and(eq(jobs.state, "ready"), eq(jobs.lane, arg("lane")), lte(jobs.runAt, arg("now"))))
          .orderBy(asc(jobs.runAt), asc(jobs.id))
          .limit(arg("limit")),
      )
      .execute({ now, lane: LANES.indexOf(lane), limit });

  /** Claims jobs that were found due in this transaction, in their order: one statement for all takes half the time. */
  const claimAll = async (tx: Tx, due: Awaited<ReturnType<typeof selectDue>>, now: number): Promise<ClaimedRow[]> => {
    const rows = await tx
      .prepared("claim_jobs", (q, _, arg) =>
        q
          .update(jobs)
          .set({ state: "running", attempts: sql`${jobs.attempts} + 1`, lockedUntil: sql`${arg("until")}`, dedupeKey: null })
          .where(tx.sqlDialect.amongNumbers(jobs.id, arg("ids")))
          .returning(),
      )
      .execute({ ids: JSON.stringify(due.map(({ id }) => id)), until: now + LEASE_MS });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return due.flatMap(({ id, dedupeKey }) => {
      const row = byId.get(id);
      if (!row) return [];
      const { kind, attempts, interruptions, maxAttempts } = row;
      const lane = LANES[row.lane] ?? "default";
      return { id: String(id), kind, payload: toPayload(row), attempt: attempts, interruptions, maxAttempts, dedupeKey, lane };
    });
  };

  /** The job as this attempt holds it: an attempt that has lost its job matches no row. */
  const heldBy = (job: ClaimedJob): SQL | undefined =>
    and(eq(jobs.id, Number(job.id)), eq(jobs.attempts, job.attempt), eq(jobs.interruptions, job.interruptions), eq(jobs.state, "running"));

  /** The key a job gets back when it is ready again: its own, unless another job has taken it meanwhile. */
  const restoreKey = async (tx: Tx, job: ClaimedJob): Promise<string | null> => {
    const { dedupeKey } = job as ClaimedRow;
    return dedupeKey === null || (await tx.$count(jobs, eq(jobs.dedupeKey, dedupeKey))) > 0 ? null : dedupeKey;
  };

  /** Deletes a job that this attempt holds. The count of changed rows costs half of returning one. */
  const deleteHeld = (tx: Tx, job: ClaimedJob): boolean => {
    const deleted = tx
      .prepared("end_job", (q, _, arg) =>
        q
          .delete(jobs)
          .where(
            and(
              eq(jobs.id, arg("id")),
              eq(jobs.attempts, arg("attempt")),
              eq(jobs.interruptions, arg("interruptions")),
              eq(jobs.state, "running"),
            ),
          ),
      )
      .execute({ id: Number(job.id), attempt: job.attempt, interruptions: job.interruptions });
    return (deleted as unknown as { changes: number }).changes > 0;
  };

  return {
    workers: null,
    // Claiming costs little without a round trip.
    maxClaimAhead: 0,
    // There is one writer.
    transactionsAtOnce: 1,
    isUnavailable: db.isUnavailable,
    tx: db.tx,
    announce: () => {},
    writersIdle: () => db.writer.idle(),
    add: async (tx, job, batch) => (batch ? batches.add(job) : addOne(tx, job)),
    cancel: async (tx, kind, dedupeKey) => {
      await tx.delete(jobs).where(and(eq(jobs.dedupeKey, dedupeKey), eq(jobs.kind, kind), eq(jobs.state, "ready")));
    },
    advance: async (tx, { kind, runAt, field, values }, now) => {
      // Names the lanes, because the index of instants has them before the instants.
      const planned = and(eq(jobs.state, "ready"), inArray(jobs.lane, [...LANES.keys()]), inArray(jobs.runAt, [...runAt]));
      const named = inArray(sql`${jobs.payload} ->> ${field}`, [...values]);
      await tx
        .update(jobs)
        .set({ runAt: now })
        .where(and(planned, eq(jobs.kind, kind), named));
    },
    omit: async (tx, job, list, values) => {
      const path = `$.${list}`;
      const kept = sql`select json_group_array(value) from json_each(${jobs.payload}, ${path}) where ${notInArray(sql`value`, [...values])}`;
      await tx
        .update(jobs)
        .set({ payload: sql`json_set(${jobs.payload}, ${path}, json((${kept})))` })
        .where(heldBy(job));
    },
    claim: (now, limits) =>
      db.tx(async (tx) => {
        const claimed: ClaimedRow[] = [];
        const drained: Lane[] = [];
        const paused = limits.mail + limits.bulk > 0 && (await readPause(tx)) !== null;
        for (const lane of LANES) {
          const limit = limits[lane];
          if (limit <= 0) continue;
          if (paused && PAUSED_LANES.includes(lane)) {
            drained.push(lane);
            continue;
          }
          let due = await selectDue(tx, now, lane, limit);
          const packed = due.find(({ batch }) => batch);
          if (packed) {
            // One at a time: a hundred rows are enough work for one transaction.
            await batches.unpack(tx, packed.id);
            due = await selectDue(tx, now, lane, limit);
          }
          if (due.length < limit && !due.some(({ batch }) => batch)) drained.push(lane);
          const single = due.filter(({ batch }) => !batch);
          if (single.length > 0) claimed.push(...(await claimAll(tx, single, now)));
        }
        return { jobs: claimed, drained };
      }),
    release: (released) =>
      db.tx(async (tx) => {
        for (const job of released)
          await tx
            .update(jobs)
            .set({ state: "ready", attempts: job.attempt - 1, lockedUntil: null, dedupeKey: await restoreKey(tx, job) })
            .where(heldBy(job));
      }),
    end: async (tx, job, again) => {
      if (again === undefined) return deleteHeld(tx, job);
      const changed = await tx
        .update(jobs)
        .set({
          state: "ready",
          runAt: again,
          maxAttempts: sql`${jobs.maxAttempts} + 1`,
          interruptions: 0,
          lockedUntil: null,
          dedupeKey: await restoreKey(tx, job),
        })
        .where(heldBy(job))
        .returning({ id: jobs.id });
      return changed.length > 0;
    },
    endMany: async (tx, ended) => {
      const held = new Set<ClaimedJob>();
      for (const job of ended) if (deleteHeld(tx, job)) held.add(job);
      return held;
    },
    endAll: (ended) =>
      db.tx(async (tx) => {
        for (const job of ended) deleteHeld(tx, job);
      }),
    fail: (job, runAt, lastError) =>
      db.tx(async (tx) => {
        const dead = job.attempt >= job.maxAttempts;
        const dedupeKey = dead ? null : await restoreKey(tx, job);
        await tx
          .update(jobs)
          .set({ state: dead ? "dead" : "ready", runAt, lockedUntil: null, dedupeKey, lastError, interruptions: 0 })
          .where(heldBy(job));
      }),
    next: async (now) => {
      let first: { at: number; kind: string } | null = null;
      for (const lane of LANES.keys()) {
        const [next] = await db.read
          .prepared("next_due", (q, _, arg) =>
            q
              .select({ at: jobs.runAt, kind: jobs.kind })
              .from(jobs)
              .where(and(eq(jobs.state, "ready"), eq(jobs.lane, arg("lane")), gt(jobs.runAt, arg("now"))))
              .orderBy(asc(jobs.runAt))
              .limit(1),
          )
          .execute({ now, lane });
        if (next && (first === null || next.at < first.at)) first = next;
      }
      return first;
    },
    // This process holds the lock of the folder, so the process that claimed these jobs is dead.
    open: () =>
      db.tx(async (tx) => {
        const orphaned = eq(jobs.state, "running");
        const interrupted = { lockedUntil: null, interruptions: sql`${jobs.interruptions} + 1` };
        await tx
          .update(jobs)
          .set({ ...interrupted, state: "dead", attempts: jobs.maxAttempts, lastError: INTERRUPTED })
          .where(and(orphaned, gte(jobs.interruptions, MAX_INTERRUPTIONS - 1)));
        await tx
          .update(jobs)
          .set({ ...interrupted, state: "ready", attempts: sql`${jobs.attempts} - 1` })
          .where(orphaned);
      }),
    close: async () => {},
    list: async (read, filter) => listJobs(read, jobs, filter),
    readStats: (read) => readStats(read, jobs),
    get: async (read, id) => {
      const [found] = isId(id)
        ? await read
            .select()
            .from(jobs)
            .where(eq(jobs.id, Number(id)))
        : [];
      return found ? toJobRow(found) : null;
    },
    revive: async (tx, id, now) => {
      if (!isId(id)) return null;
      const [revived] = await tx
        .update(jobs)
        .set({ state: "ready", attempts: 0, interruptions: 0, runAt: now })
        .where(and(eq(jobs.id, Number(id)), eq(jobs.state, "dead")))
        .returning();
      return revived ? toJobRow(revived) : null;
    },
  };
}

// The index `jobs_ready` alone answers all queries.
async function readStats(read: Reader | Tx, jobs: JobsTable): Promise<QueueStats> {
  const count = async (state: JobState): Promise<number> => (await countJobs(read, jobs, eq(jobs.state, state))).total;
  const oldest = await Promise.all(
    [...LANES.keys()].map(async (lane) => {
      const [row] = await read
        .select({ at: sql<number | null>`min(${jobs.runAt})` })
        .from(jobs)
        .where(and(eq(jobs.state, "ready"), eq(jobs.lane, lane)));
      return row?.at ?? Number.POSITIVE_INFINITY;
    }),
  );
  const oldestDueAt = Math.min(...oldest);
  return {
    jobs: { ready: await count("ready"), running: await count("running"), dead: await count("dead") },
    oldestDueAt: Number.isFinite(oldestDueAt) ? oldestDueAt : null,
  };
}

async function listJobs(read: Reader, jobs: JobsTable, { workspaceId, state, below, limit, offset }: JobFilter): Promise<JobList> {
  const where = await toCondition(read, jobs, workspaceId, state);
  const rows = await read
    .select()
    .from(jobs)
    .where(and(where, below === undefined ? undefined : lt(jobs.id, below)))
    .orderBy(desc(jobs.id))
    .limit(limit)
    .offset(offset);
  return { rows: rows.map(toJobRow), ...(await countJobs(read, jobs, where)) };
}

/**
 * Dead jobs have an index of their own. Jobs in another state are found by their state when they are few, and otherwise by their
 * workspace, where they are met soon. A plus sign keeps an index from being used.
 */
async function toCondition(
  read: Reader,
  jobs: JobsTable,
  workspaceId: string | undefined,
  state: JobState | undefined,
): Promise<SQL | undefined> {
  const inWorkspace = workspaceId === undefined ? undefined : sql`${PAYLOAD_WORKSPACE} = ${workspaceId}`;
  if (state === undefined || state === "dead") return and(inWorkspace, state && DEAD);
  const inState = eq(jobs.state, state);
  const { isMinimum: areMany } = await countJobs(read, jobs, inState, FEW);
  return areMany ? and(inWorkspace, sql`+${jobs.state} = ${state}`) : and(inState, inWorkspace && sql`+(${inWorkspace})`);
}

async function countJobs(read: Reader | Tx, jobs: JobsTable, where: SQL | undefined, max = MAX_COUNTED): Promise<Total> {
  const counted = read
    .select({ one: sql`1`.as("one") })
    .from(jobs)
    .where(where)
    .limit(max + 1)
    .as("counted");
  const [count] = await read.select({ n: sql<number>`count(*)`.mapWith(Number) }).from(counted);
  const n = count?.n ?? 0;
  return { total: Math.min(n, max), isMinimum: n > max };
}

function isId(id: string): boolean {
  return /^\d{1,15}$/.test(id);
}

// A batch that has not been unpacked shows the first of its jobs.
function toPayload({ payload }: Pick<JobsTable["$inferSelect"], "payload">): JobRow["payload"] {
  return Array.isArray(payload) ? (payload[0] as JobRow["payload"]) : payload;
}

function toJobRow({ batch: _, lane: _lane, interruptions: _interruptions, ...row }: JobsTable["$inferSelect"]): JobRow {
  return { ...row, id: String(row.id), payload: toPayload(row) };
}
