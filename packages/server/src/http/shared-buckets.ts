import { StorageUnavailable } from "../db/errors.ts";
import type { PostgresDb } from "../db/postgres/database.ts";
import { type Limiter, type Rate, type RateLimitResult, TokenBuckets } from "../lib/rate.ts";
import { HOUR } from "../lib/units.ts";

/** The tokens of one bucket that this process holds. */
interface Share {
  /** Tokens drawn and not used yet. */
  tokens: number;
  /** Time at which they were drawn; a clock that was put back since then makes the share void. */
  from: number;
  /** Time at which unused tokens are given up: the bucket has filled again by then. */
  until: number;
  /** Tokens that were left in the bucket after the draw. */
  remaining: number;
  /** The bucket is known to be empty until then. */
  emptyUntil: number;
  drawing: Promise<void> | null;
}

// A process draws a twentieth of a second's rate at once: at 50,000 requests a second and key one query per 2,500 requests, at 20 a
// second and less one query each.
const DRAWS_PER_SECOND = 20;
const SHARE_LIFETIME_MS = 1000;
// Buckets unused for an hour are full again, so their rows are deleted.
const ROW_LIFETIME_MS = HOUR;
// Shares in memory; beyond that all are dropped, which at worst costs a query each.
const MAX_SHARES = 10_000;
// Draws between two deletions of old rows.
const DELETE_EVERY = 1000;

const DB_NOW = "extract(epoch from clock_timestamp()) * 1000";

/**
 * Rate limits shared by all server processes on one database. The buckets are rows; each process draws a small share of the tokens
 * at a time and hands them out from memory. So a key never exceeds its rate over all processes together; it may get less by the
 * tokens that processes hold and do not use, a twentieth of a second's rate each. Buckets fill by the database's clock, which all
 * processes share; in dev mode by the controllable clock. While the database takes no writes, each process counts by itself, because
 * reads go on.
 */
export class SharedBuckets implements Limiter {
  readonly #db: PostgresDb;
  readonly #now: () => number;
  readonly #controllable: boolean;
  readonly #shares = new Map<string, Share>();
  /** The buckets of this process alone, for a database that takes no writes. */
  readonly #own: TokenBuckets;
  #draws = 0;

  constructor(db: PostgresDb, now: () => number, controllable: boolean) {
    this.#db = db;
    this.#now = now;
    this.#controllable = controllable;
    this.#own = new TokenBuckets(now);
  }

  async take(name: string, rate: Rate): Promise<RateLimitResult> {
    let share = this.#shares.get(name);
    if (!share) {
      if (this.#shares.size >= MAX_SHARES) this.#shares.clear();
      share = { tokens: 0, from: 0, until: 0, remaining: 0, emptyUntil: 0, drawing: null };
      this.#shares.set(name, share);
    }
    return this.#takeFromShare(share, rate) ?? this.#drawAndTake(name, share, rate);
  }

  clear(): void {
    this.#shares.clear();
  }

  /** The result as far as memory knows it; null when the database must be asked. */
  #takeFromShare(share: Share, rate: Rate): RateLimitResult | null {
    const now = this.#now();
    if (now < share.from) return null;
    if (share.tokens >= 1 && now < share.until) {
      share.tokens -= 1;
      const remaining = share.remaining + share.tokens;
      const reset = Math.ceil((rate.burst - remaining) / rate.perSecond);
      return { allowed: true, limit: rate.burst, remaining: Math.floor(remaining), reset };
    }
    if (now >= share.emptyUntil) return null;
    const reset = Math.max(1, Math.ceil((share.emptyUntil - now) / 1000));
    return { allowed: false, limit: rate.burst, remaining: 0, reset };
  }

  async #drawAndTake(name: string, share: Share, rate: Rate): Promise<RateLimitResult> {
    for (;;) {
      share.drawing ??= this.#drawAnyhow(name, share, rate).finally(() => {
        share.drawing = null;
      });
      await share.drawing;
      const taken = this.#takeFromShare(share, rate);
      if (taken) return taken;
    }
  }

  async #drawAnyhow(name: string, share: Share, rate: Rate): Promise<void> {
    try {
      await this.#draw(name, share, rate);
    } catch (error) {
      if (!(error instanceof StorageUnavailable && error.refusesWrites)) throw error;
      const { allowed, remaining, reset } = this.#own.take(name, rate);
      const now = this.#now();
      Object.assign(share, {
        tokens: allowed ? 1 : 0,
        remaining,
        from: now,
        until: now + SHARE_LIFETIME_MS,
        emptyUntil: allowed ? 0 : now + reset * 1000,
      });
    }
  }

  async #draw(name: string, share: Share, rate: Rate): Promise<void> {
    const wanted = Math.max(1, Math.floor(Math.min(rate.perSecond, rate.burst) / DRAWS_PER_SECOND));
    const values = [name, wanted, rate.burst, rate.perSecond];
    const [row] = this.#controllable
      ? await this.#db.read.raw<{ tokens: number; granted: number }>(buildDraw("$5::float8"), [...values, this.#now()], "draw_controllable")
      : await this.#db.read.raw<{ tokens: number; granted: number }>(buildDraw(DB_NOW), values, "draw");
    const { tokens = 0, granted = 0 } = row ?? {};
    const now = this.#now();
    share.tokens = granted;
    share.remaining = tokens;
    share.from = now;
    share.until = now + SHARE_LIFETIME_MS;
    // Rounded up, so that a request made then is admitted.
    share.emptyUntil = granted >= 1 ? 0 : now + Math.ceil(((1 - tokens) * 1000) / rate.perSecond);
    this.#draws += 1;
    if (this.#draws % DELETE_EVERY === 0 && !this.#controllable)
      this.#db.read.raw(`delete from rate_buckets where at < ${DB_NOW} - $1::float8`, [ROW_LIFETIME_MS]).catch(() => {});
  }
}

/** The statement that draws from a bucket: fills it for the time passed, then takes the tokens wanted, or all there are. */
function buildDraw(now: string): string {
  const full = `least($3::float8, b.tokens + greatest(0, ${now} - b.at) * $4::float8 / 1000)`;
  const granted = `least($2::float8, floor(${full}))`;
  return `insert into rate_buckets as b (name, tokens, granted, at)
    values ($1, $3::float8 - least($2::float8, floor($3::float8)), least($2::float8, floor($3::float8)), ${now})
    on conflict (name) do update set granted = ${granted}, tokens = ${full} - ${granted}, at = greatest(b.at, ${now})
    returning tokens, granted`;
}
