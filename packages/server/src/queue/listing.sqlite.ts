import { and, desc, eq, lt, type SQL, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { Total } from "../db/pagination.ts";
import { type JobFilter, type JobList, type JobRow, LANES, type QueueStats } from "./queue.ts";
import { DEAD, type JobState, PAYLOAD_WORKSPACE, type queueTables } from "./tables.ts";

export type JobsTable = ReturnType<typeof queueTables>["jobs"];

// Rows counted for a list or a metric, at most.
const MAX_COUNTED = 10_000;

// So many rows are read and sorted in 2 ms.
const FEW = 1000;

/** The jobs of SQLite as they are shown and counted. */
export class SqliteJobListing {
  readonly #jobs: JobsTable;

  constructor(jobs: JobsTable) {
    this.#jobs = jobs;
  }

  async list(read: Reader, { workspaceId, state, below, limit, offset }: JobFilter): Promise<JobList> {
    const jobs = this.#jobs;
    const where = await this.#toCondition(read, workspaceId, state);
    const rows = await read
      .select()
      .from(jobs)
      .where(and(where, below === undefined ? undefined : lt(jobs.id, below)))
      .orderBy(desc(jobs.id))
      .limit(limit)
      .offset(offset);
    return { rows: rows.map(toJobRow), ...(await this.#count(read, where)) };
  }

  async get(read: Reader, id: string): Promise<JobRow | null> {
    if (!isJobId(id)) return null;
    const [found] = await read
      .select()
      .from(this.#jobs)
      .where(eq(this.#jobs.id, Number(id)));
    return found ? toJobRow(found) : null;
  }

  /** The index `jobs_ready` alone answers all queries. */
  async readStats(read: Reader | Tx): Promise<QueueStats> {
    const count = async (state: JobState): Promise<number> => (await this.#count(read, eq(this.#jobs.state, state))).total;
    return {
      jobs: {
        ready: await count("ready"),
        running: await count("running"),
        dead: await count("dead"),
        unhandled: await count("unhandled"),
      },
      oldestDueAt: await this.#findOldestDueAt(read),
    };
  }

  /** Jobs of kinds that this build does not know, by kind. */
  async countUnhandled(read: Reader | Tx): Promise<Record<string, number>> {
    const { kind, state } = this.#jobs;
    const unhandled = read.select({ kind }).from(this.#jobs).where(eq(state, "unhandled")).limit(MAX_COUNTED).as("unhandled");
    const counts = await read
      .select({ kind: unhandled.kind, n: sql<number>`count(*)`.mapWith(Number) })
      .from(unhandled)
      .groupBy(unhandled.kind);
    return Object.fromEntries(counts.map(({ kind: one, n }) => [one, n]));
  }

  async #findOldestDueAt(read: Reader | Tx): Promise<number | null> {
    const { state, lane, runAt } = this.#jobs;
    const oldest: number[] = [];
    for (const index of LANES.keys()) {
      const [row] = await read
        .select({ at: sql<number | null>`min(${runAt})` })
        .from(this.#jobs)
        .where(and(eq(state, "ready"), eq(lane, index)));
      if (typeof row?.at === "number") oldest.push(row.at);
    }
    return oldest.length === 0 ? null : Math.min(...oldest);
  }

  /**
   * Dead jobs have their own index. Jobs in another state are found by their state when they are few, and otherwise by their
   * workspace, where they are met soon. A plus sign keeps an index from being used.
   */
  async #toCondition(read: Reader, workspaceId: string | undefined, state: JobState | undefined): Promise<SQL | undefined> {
    const inWorkspace = workspaceId === undefined ? undefined : sql`${PAYLOAD_WORKSPACE} = ${workspaceId}`;
    if (state === undefined || state === "dead") return and(inWorkspace, state && DEAD);
    const inState = eq(this.#jobs.state, state);
    const { isMinimum: areMany } = await this.#count(read, inState, FEW);
    return areMany ? and(inWorkspace, sql`+${this.#jobs.state} = ${state}`) : and(inState, inWorkspace && sql`+(${inWorkspace})`);
  }

  async #count(read: Reader | Tx, where: SQL | undefined, max = MAX_COUNTED): Promise<Total> {
    const counted = read
      .select({ one: sql`1`.as("one") })
      .from(this.#jobs)
      .where(where)
      .limit(max + 1)
      .as("counted");
    const [count] = await read.select({ n: sql<number>`count(*)`.mapWith(Number) }).from(counted);
    const n = count?.n ?? 0;
    return { total: Math.min(n, max), isMinimum: n > max };
  }
}

/** Whether a text can be the id of a job. */
export function isJobId(id: string): boolean {
  return /^\d{1,15}$/.test(id);
}

export function toJobRow({ id, ...row }: JobsTable["$inferSelect"]): JobRow {
  const { kind, state, payload, attempts, maxAttempts, runAt, lastError, createdAt } = row;
  return { id: String(id), kind, state, payload, attempts, maxAttempts, runAt, lastError, createdAt };
}
