import { and, desc, eq, gt, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { Reader, Schema, Tx } from "../db/db.ts";
import type { Total } from "../db/pagination.ts";
import type { JobFilter, JobList, JobRow, QueueStats } from "./queue.ts";
import { DEAD, type JobState, PAYLOAD_WORKSPACE, READY } from "./tables.ts";

// Rows counted for a list or a metric, at most.
const MAX_COUNTED = 10_000;

// So many rows are read and sorted in 2 ms.
const FEW = 1000;

/** A page of jobs, the latest first. */
export async function listJobs(read: Reader, { workspaceId, state, below, limit, offset }: JobFilter): Promise<JobList> {
  const { jobs } = read.t;
  const where = await toCondition(read, workspaceId, state);
  const rows = await read
    .select()
    .from(jobs)
    .where(and(where, below === undefined ? undefined : lt(jobs.id, below)))
    .orderBy(desc(jobs.id))
    .limit(limit)
    .offset(offset);
  return { rows: rows.map(toJobRow), ...(await countJobs(read, where)) };
}

/** Null when there is no job with this id. */
export async function findJob(read: Reader, id: string): Promise<JobRow | null> {
  if (!isJobId(id)) return null;
  const { jobs } = read.t;
  const [found] = await read
    .select()
    .from(jobs)
    .where(eq(jobs.id, Number(id)));
  return found ? toJobRow(found) : null;
}

/** Counts the jobs of all workspaces. The index `jobs_state` alone answers all queries. */
export async function readStats(read: Reader | Tx): Promise<QueueStats> {
  const count = async (state: JobState): Promise<number> => (await countJobs(read, eq(read.t.jobs.state, state))).total;
  return {
    jobs: { ready: await count("ready"), running: await count("running"), dead: await count("dead"), unhandled: await count("unhandled") },
    oldestDueAt: (await findNextDue(read, -1))?.at ?? null,
  };
}

/** Jobs of kinds that this build does not know, by kind. */
export async function countUnhandled(read: Reader | Tx): Promise<Record<string, number>> {
  const { kind, state } = read.t.jobs;
  const unhandled = read.select({ kind }).from(read.t.jobs).where(eq(state, "unhandled")).limit(MAX_COUNTED).as("unhandled");
  const counts = await read
    .select({ kind: unhandled.kind, n: sql<number>`count(*)`.mapWith(Number) })
    .from(unhandled)
    .groupBy(unhandled.kind);
  return Object.fromEntries(counts.map(({ kind: one, n }) => [one, n]));
}

/** The instant and kind of the first ready job that is due after an instant (ms). */
export async function findNextDue(read: Reader | Tx, after: number): Promise<{ at: number; kind: string } | null> {
  const [next] = await read
    .prepared("next_due", (q, { jobs }, arg) => {
      const firstOf = (lane: number) => {
        const first = q
          .select({ at: jobs.runAt, kind: jobs.kind })
          .from(jobs)
          .where(and(READY, sql`${jobs.lane} = ${sql.raw(String(lane))}`, gt(jobs.runAt, arg("after"))))
          .orderBy(jobs.runAt)
          .limit(1)
          .as(`lane${lane}`);
        return q.select({ at: first.at, kind: first.kind }).from(first);
      };
      return firstOf(0).unionAll(firstOf(1)).orderBy(sql`1`).limit(1);
    })
    .execute({ after });
  return next ?? null;
}

/** True for a text that can be the id of a job. */
export function isJobId(id: string): boolean {
  return /^\d{1,15}$/.test(id);
}

export function toJobRow({ id, ...row }: Schema["jobs"]["$inferSelect"]): JobRow {
  const { kind, state, payload, attempts, maxAttempts, runAt, lastError, createdAt } = row;
  return { id: String(id), kind, state, payload, attempts, maxAttempts, runAt, lastError, createdAt };
}

/**
 * Dead jobs have their own index. Jobs in another state are found by their state when they are few, and otherwise by their
 * workspace, where they are met soon.
 */
async function toCondition(read: Reader, workspaceId: string | undefined, state: JobState | undefined): Promise<SQL | undefined> {
  const { jobs } = read.t;
  const inWorkspace = workspaceId === undefined ? undefined : sql`${PAYLOAD_WORKSPACE} = ${workspaceId}`;
  if (state === undefined || state === "dead") return and(inWorkspace, state && DEAD);
  const inState = eq(jobs.state, state);
  const { isMinimum: areMany } = await countJobs(read, inState, FEW);
  if (areMany) return and(inWorkspace, read.sqlDialect.usually(inState));
  const few = read.select({ id: jobs.id }).from(jobs).where(inState).limit(FEW);
  return and(inArray(jobs.id, few), inWorkspace);
}

async function countJobs(read: Reader | Tx, where: SQL | undefined, max = MAX_COUNTED): Promise<Total> {
  const counted = read
    .select({ one: sql`1`.as("one") })
    .from(read.t.jobs)
    .where(where)
    .limit(max + 1)
    .as("counted");
  const [count] = await read.select({ n: sql<number>`count(*)`.mapWith(Number) }).from(counted);
  const n = count?.n ?? 0;
  return { total: Math.min(n, max), isMinimum: n > max };
}
