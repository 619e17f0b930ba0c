import { and, eq, gt, not, type SQL, type sql } from "drizzle-orm";
import type { Db, Reader, Schema, Tx } from "../db/db.ts";
import { countRows } from "../db/pagination.ts";
import { BULK, CLAIMED, DELIVER_JOB, type EmailRow, IN_QUEUE, readDeliveryJob, SINGLE, toDeliveryJob } from "../emails/emails.ts";
import type { Claim, LaneLimits, StoreEvents, WorkSource } from "../queue/job-store.ts";
import type { ClaimedJob, Lane, LaneJob } from "../queue/queue.ts";
import { putBack } from "./in-queue.ts";

/** The lanes of emails, as they are stored. */
const STORED = { mail: SINGLE, bulk: BULK } as const;
const LANES = ["mail", "bulk"] as const;

/**
 * The emails that are to be delivered, as the worker of the queue claims them (docs/decisions/0020-emails-are-their-queue.md). An email is a
 * job from its claim until its outcome is stored. The effects of `Dispatch` end it: they change the row whose columns are its place in the
 * queue.
 *
 * | email is | trigger                                        | becomes                                                         |
 * | -------- | ---------------------------------------------- | --------------------------------------------------------------- |
 * | (none)   | it is accepted or released; a retry is planned | waiting: it has a lane and an instant                           |
 * | waiting  | its instant is over, and there is a slot       | claimed: in memory on SQLite, by `claimed_by` on Postgres       |
 * | claimed  | its outcome is stored                          | out of the queue, or waiting for the instant of a retry         |
 * | claimed  | its attempt fails by a fault of ours           | waiting after a backoff; after 25 times it is `failed`          |
 * | claimed  | its process dies                               | waiting; in doubt if it was marked                              |
 * | any      | cancelled                                      | out of the queue                                                |
 * | any      | its domain is held, its campaign is paused     | out of the queue, until it is released                          |
 */
export abstract class MailStore<Database extends Db> implements WorkSource {
  readonly lanes = LANES;
  readonly maxClaimAhead = 0;
  readonly transactionsAtOnce = 1;
  abstract readonly beginsStored: boolean;
  protected readonly db: Database;
  #held: StoreEvents["held"] = () => [];

  constructor(db: Database) {
    this.db = db;
  }

  /** Claims up to `limit` emails of a lane. */
  protected abstract claimLane(lane: (typeof LANES)[number], now: number, limit: number): Promise<EmailRow[]>;
  abstract release(jobs: readonly ClaimedJob[]): Promise<void>;

  async open(_kinds: readonly string[], { held }: StoreEvents): Promise<void> {
    this.#held = held;
  }

  async close(): Promise<void> {}

  tx<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.db.tx(fn);
  }

  isUnavailable(error: unknown): boolean {
    return this.db.isUnavailable(error);
  }

  isAway(error: unknown): boolean {
    return this.db.isAway(error);
  }

  async claim(now: number, limits: LaneLimits): Promise<Claim> {
    const jobs: LaneJob[] = [];
    const drained: Lane[] = [];
    for (const lane of LANES) {
      const limit = limits[lane] ?? 0;
      if (limit === 0) continue;
      const emails = await this.claimLane(lane, now, limit);
      jobs.push(...emails.map(toDeliveryJob));
      if (emails.length < limit) drained.push(lane);
    }
    return { jobs, drained };
  }

  setAside(jobs: readonly ClaimedJob[]): Promise<void> {
    return this.release(jobs);
  }

  async end(): Promise<boolean> {
    return true;
  }

  async endMany(_tx: Tx, attempts: readonly ClaimedJob[]): Promise<ReadonlySet<ClaimedJob>> {
    return new Set(attempts);
  }

  async fail(job: ClaimedJob, runAt: number, lastError: string | null): Promise<void> {
    const email = readDeliveryJob(job);
    await this.tx((tx) => putBack(tx, [{ email, runAt, faults: lastError === null ? email.faults : job.attempt }]));
  }

  async next(after: number): Promise<{ at: number; kind: string } | null> {
    const at = await this.#findNext(this.db.read, after);
    return at === null ? null : { at, kind: DELIVER_JOB };
  }

  async readStats(read: Reader | Tx): Promise<{ waiting: number; running: number; dueAt: number | null }> {
    const { emails } = read.t;
    const [unclaimed, claimed] = [await countRows(read, emails, IN_QUEUE), await countRows(read, emails, CLAIMED)];
    // Emails that this process has claimed in memory are among the unclaimed.
    const inMemory = this.held().filter((job) => readDeliveryJob(job).claimedBy === null).length;
    return {
      waiting: Math.max(0, unclaimed.total - inMemory),
      running: claimed.total + inMemory,
      dueAt: await this.#findNext(read, -1),
    };
  }

  /** The jobs that this process holds. */
  protected held(): ClaimedJob[] {
    return this.#held();
  }

  /** Their emails, as a list in JSON. */
  protected heldIds(): string {
    return JSON.stringify(this.#held().map(({ id }) => id));
  }

  /** The condition that an email waits in a lane. */
  protected waitsIn({ emails }: Pick<Schema, "emails">, lane: SQL | ReturnType<typeof sql.placeholder>): SQL | undefined {
    return and(IN_QUEUE, eq(emails.lane, lane));
  }

  protected stored(lane: (typeof LANES)[number]): number {
    return STORED[lane];
  }

  /** The first instant after another one at which an email is due. */
  async #findNext(q: Reader | Tx, after: number): Promise<number | null> {
    let first: number | null = null;
    for (const lane of LANES) {
      const [next] = await q
        .prepared("next_email", (build, t, arg) =>
          build
            .select({ at: t.emails.nextAttemptAt })
            .from(t.emails)
            .where(
              and(
                this.waitsIn(t, arg("lane")),
                gt(t.emails.nextAttemptAt, arg("after")),
                not(q.sqlDialect.among(t.emails.id, arg("held"))),
              ),
            )
            .orderBy(t.emails.nextAttemptAt)
            .limit(1),
        )
        .execute({ lane: STORED[lane], after, held: this.heldIds() });
      const at = next?.at ?? null;
      if (at !== null && (first === null || at < first)) first = at;
    }
    return first;
  }
}
