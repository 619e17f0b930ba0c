import { and, eq, getTableColumns, lte, not, sql } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import type { PostgresDb } from "../db/postgres/database.ts";
import { type EmailRow, readDeliveryJob } from "../emails/emails.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { SECOND } from "../lib/units.ts";
import type { StoreEvents } from "../queue/job-store.ts";
import { isPaused } from "../queue/pause.ts";
import type { ClaimedJob, WorkerRegistry } from "../queue/queue.ts";
import { MailStore } from "./mail-store.ts";

// Time after which a claim whose answer was lost has either been stored or failed.
const LOST_MS = 10 * SECOND;

/**
 * Releases the claims of processes that are dead, and those of this one that it does not know: their answers were lost. It reads the claimed
 * emails only, by their index.
 */
const SWEEP = `update emails set claimed_by = null where claimed_by is not null
  and (not exists (select from workers w where w.name = split_part(claimed_by, '/', 1))
    or (split_part(claimed_by, '/', 1) = $1 and claimed_by <> all ($2::text[]))) returning id`;

interface PostgresMailStoreOptions {
  readonly db: PostgresDb;
  readonly real: Clock["real"];
  readonly log: Log;
  /** The processes that share the database; it is open before this store. */
  readonly workers: WorkerRegistry;
}

/**
 * Emails in a Postgres database, for any number of server processes. `claimed_by` names the process and the number of its claim, so a claim
 * whose answer was lost can be told from one that is held.
 */
export class PostgresMailStore extends MailStore<PostgresDb> {
  readonly beginsStored = false;
  readonly #real: Clock["real"];
  readonly #log: Log;
  readonly #workers: WorkerRegistry;
  /** Claims without an answer, and the instant at which it was lost. */
  readonly #unanswered = new Map<string, number | null>();
  #claims = 0;

  constructor({ db, real, log, workers }: PostgresMailStoreOptions) {
    super(db);
    this.#real = real;
    this.#log = log;
    this.#workers = workers;
    workers.onBeat(() => this.#sweep());
  }

  override async open(kinds: readonly string[], events: StoreEvents): Promise<void> {
    await super.open(kinds, events);
    await this.#sweep();
  }

  async release(jobs: readonly ClaimedJob[]): Promise<void> {
    if (jobs.length === 0) return;
    const changes = jobs.map(readDeliveryJob).map(({ workspaceId, id, claimedBy }) => {
      return { where: { workspaceId, id, claimedBy }, set: { claimedBy: null } };
    });
    await this.tx((tx) => tx.updateAll(tx.t.emails, changes));
  }

  protected async claimLane(lane: "mail" | "bulk", now: number, limit: number): Promise<EmailRow[]> {
    this.#claims += 1;
    const claimedBy = `${this.#workers.name}/${this.#claims}`;
    this.#unanswered.set(claimedBy, null);
    try {
      const emails = await this.#claim(claimedBy, this.stored(lane), now, limit);
      this.#unanswered.delete(claimedBy);
      return emails.sort((a, b) => (a.nextAttemptAt ?? 0) - (b.nextAttemptAt ?? 0) || (a.id < b.id ? -1 : 1));
    } catch (error) {
      this.#unanswered.set(claimedBy, this.#real.now());
      throw error;
    }
  }

  /**
   * Without BEGIN: at READ COMMITTED a claim passes over what another one has just committed, and one round trip is enough. Its rows are found
   * in a `with`, which runs once: a subquery that skips locked rows finds others each time that a join reads it.
   */
  async #claim(claimedBy: string, lane: number, now: number, limit: number): Promise<EmailRow[]> {
    const { sqlDialect } = this.db.read;
    return (this.db.read as unknown as Tx)
      .prepared("claim_emails", (q, t, arg) => {
        const { emails } = t;
        const due = q.$with("due").as(
          sqlDialect.passingLocked(
            q
              .select({ workspaceId: emails.workspaceId, id: emails.id })
              .from(emails)
              .where(and(this.waitsIn(t, arg("lane")), lte(emails.nextAttemptAt, arg("now")), not(isPaused(t))))
              .orderBy(emails.nextAttemptAt, emails.id)
              .limit(arg("limit")),
          ),
        );
        return q
          .with(due)
          .update(emails)
          .set({ claimedBy: sql`${arg("claimedBy")}` })
          .from(due)
          .where(and(eq(emails.workspaceId, due.workspaceId), eq(emails.id, due.id)))
          .returning(getTableColumns(emails));
      })
      .execute({ claimedBy, lane, now, limit });
  }

  async #sweep(): Promise<void> {
    const now = this.#real.now();
    for (const [name, lostAt] of this.#unanswered) if (lostAt !== null && now - lostAt > LOST_MS) this.#unanswered.delete(name);
    const held = this.held().flatMap((job) => readDeliveryJob(job).claimedBy ?? []);
    const freed = await this.db.read.raw<{ id: string }>(SWEEP, [this.#workers.name, [...new Set([...held, ...this.#unanswered.keys()])]]);
    if (freed.length > 0) this.#log.warn("taking over the emails of a process that died", { emails: freed.length });
  }
}
