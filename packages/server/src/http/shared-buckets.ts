import type { PostgresDb } from "../db/postgres/database.ts";
import type { Limiter, Rate, RateLimitResult } from "../lib/rate.ts";

interface Share {
  /** Tokens this process has drawn and not yet used. */
  tokens: number;
  /** When they were drawn: to a clock that was put back since then, nothing here says anything. */
  from: number;
  /** After this instant what is left of them is given up: the bucket has filled again meanwhile. */
  until: number;
  /** What was left in the bucket when they were drawn. */
  rest: number;
  /** Before this instant the bucket is known to be empty. */
  emptyUntil: number;
  drawing: Promise<void> | null;
}

// A process draws this part of a second's rate at once. At 50,000 requests a second and key that is one query for 2,500
// requests; at 20 a second and less, one for each.
const PART = 20;
const KEEP_MS = 1000;
// Rows of keys that were last used this long ago are full again, so they are dropped.
const FORGET_MS = 3_600_000;

const DB_NOW = "extract(epoch from clock_timestamp()) * 1000";

/**
 * Rate limits that hold for all server processes together. The buckets are rows; each process draws a small share of
 * tokens at a time (a twentieth of a second's rate) and hands them out from memory. So a key never gets more than its
 * rate from all processes together; it may get less by what processes hold and do not use, a twentieth of a second's
 * rate each. Buckets fill by the database's clock, which all share; in dev mode by the clock the developer owns.
 */
export class SharedBuckets implements Limiter {
  readonly #db: PostgresDb;
  readonly #now: () => number;
  readonly #bent: boolean;
  readonly #shares = new Map<string, Share>();
  #draws = 0;

  constructor(db: PostgresDb, now: () => number, bent: boolean) {
    this.#db = db;
    this.#now = now;
    this.#bent = bent;
  }

  take(name: string, rate: Rate): RateLimitResult | Promise<RateLimitResult> {
    let share = this.#shares.get(name);
    if (!share) {
      if (this.#shares.size >= 10_000) this.#shares.clear();
      share = { tokens: 0, from: 0, until: 0, rest: 0, emptyUntil: 0, drawing: null };
      this.#shares.set(name, share);
    }
    return this.#give(share, rate) ?? this.#drawAndGive(name, share, rate);
  }

  clear(): void {
    this.#shares.clear();
  }

  /** An answer from memory, if there is one. */
  #give(share: Share, rate: Rate): RateLimitResult | null {
    const now = this.#now();
    if (now < share.from) return null;
    if (share.tokens >= 1 && now < share.until) {
      share.tokens -= 1;
      const remaining = share.rest + share.tokens;
      const reset = Math.ceil((rate.burst - remaining) / rate.perSecond);
      return { allowed: true, limit: rate.burst, remaining: Math.floor(remaining), reset };
    }
    if (now >= share.emptyUntil) return null;
    const reset = Math.max(1, Math.ceil((share.emptyUntil - now) / 1000));
    return { allowed: false, limit: rate.burst, remaining: 0, reset };
  }

  async #drawAndGive(name: string, share: Share, rate: Rate): Promise<RateLimitResult> {
    for (;;) {
      share.drawing ??= this.#draw(name, share, rate).finally(() => {
        share.drawing = null;
      });
      await share.drawing;
      const taken = this.#give(share, rate);
      if (taken) return taken;
    }
  }

  async #draw(name: string, share: Share, rate: Rate): Promise<void> {
    const wanted = Math.max(1, Math.floor(Math.min(rate.perSecond, rate.burst) / PART));
    const values = [name, wanted, rate.burst, rate.perSecond];
    const [row] = this.#bent
      ? await this.#db.read.raw<{ tokens: number; granted: number }>(draw("$5::float8"), [...values, this.#now()], "draw_bent")
      : await this.#db.read.raw<{ tokens: number; granted: number }>(draw(DB_NOW), values, "draw");
    const { tokens = 0, granted = 0 } = row ?? {};
    const now = this.#now();
    share.tokens = granted;
    share.rest = tokens;
    share.from = now;
    share.until = now + KEEP_MS;
    // Rounded up, so that whoever comes back then is let through.
    share.emptyUntil = granted >= 1 ? 0 : now + Math.ceil(((1 - tokens) * 1000) / rate.perSecond);
    this.#draws += 1;
    if (this.#draws % 1000 === 0 && !this.#bent)
      this.#db.read.raw(`delete from rate_buckets where at < ${DB_NOW} - $1::float8`, [FORGET_MS]).catch(() => {});
  }
}

/** Draws from a bucket: fills it for the time that has passed, then takes what is wanted, or what there is. */
function draw(now: string): string {
  const full = `least($3::float8, b.tokens + greatest(0, ${now} - b.at) * $4::float8 / 1000)`;
  const granted = `least($2::float8, floor(${full}))`;
  return `insert into rate_buckets as b (name, tokens, granted, at)
    values ($1, $3::float8 - least($2::float8, floor($3::float8)), least($2::float8, floor($3::float8)), ${now})
    on conflict (name) do update set granted = ${granted}, tokens = ${full} - ${granted}, at = greatest(b.at, ${now})
    returning tokens, granted`;
}
