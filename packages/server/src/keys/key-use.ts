import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Db } from "../db/db.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { MINUTE, SECOND } from "../lib/units.ts";

// More keys than that are not used within a minute; what is forgotten is in the database.
const MAX_KEPT = 20_000;
const STOP_MS = 2 * SECOND;

/**
 * The last use of each key, to the minute. Requests note it in memory; it is written a minute later (real time) and when the server stops,
 * so that no request waits for it.
 */
export class KeyUse {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #usedAt = new Map<string, number>();
  readonly #unsaved = new Set<string>();
  #timer: Timer | null = null;

  constructor(db: Db, clock: Clock, log: Log) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  note(id: string): void {
    const now = this.#clock.now();
    const before = this.#usedAt.get(id);
    if (before !== undefined && now >= before && now - before < MINUTE) return;
    if (this.#usedAt.size >= MAX_KEPT && this.#unsaved.size === 0) this.#usedAt.clear();
    this.#usedAt.set(id, now);
    this.#unsaved.add(id);
    this.#timer ??= this.#clock.real.after(MINUTE, () => {
      this.#timer = null;
      void this.#trySave();
    });
  }

  /** The last use that this process has seen, ms; null for none. */
  find(id: string): number | null {
    return this.#usedAt.get(id) ?? null;
  }

  /** Writes what has not been written. */
  async save(): Promise<void> {
    const used = [...this.#unsaved].flatMap((id) => ({ id, at: this.#usedAt.get(id) ?? 0 }));
    if (used.length === 0) return;
    this.#unsaved.clear();
    try {
      await this.#db.tx(async (tx) => {
        const { keys: t } = tx.t;
        for (const { id, at } of used)
          await tx
            .update(t)
            .set({ lastUsedAt: at })
            .where(and(eq(t.id, id), or(isNull(t.lastUsedAt), lt(t.lastUsedAt, at))));
      });
    } catch (error) {
      for (const { id } of used) this.#unsaved.add(id);
      throw error;
    }
  }

  /** Writes what is left, if the database takes it. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#unsaved.size === 0) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.real.after(STOP_MS, resolve);
    await Promise.race([this.#trySave(), late]);
    timer.cancel();
  }

  async #trySave(): Promise<void> {
    try {
      await this.save();
    } catch (error) {
      this.#log.warn("the last use of keys was not written", { error: String(error) });
    }
  }

  /** Forgets what it knows: the data was replaced. */
  clear(): void {
    this.#usedAt.clear();
    this.#unsaved.clear();
  }
}
