import { and, eq, gt, inArray, isNull, or } from "drizzle-orm";
import type { Db } from "../db/db.ts";
import { findFact } from "../db/facts.ts";
import type { DeveloperKey } from "../http/auth.ts";
import type { Clock } from "../lib/clock.ts";
import { growingCache } from "../lib/growing-cache.ts";
import { readNetworks } from "../lib/ip-network.ts";
import { RevocationWatch } from "../lib/revocation-watch.ts";
import { hashKey } from "./secret.ts";

/** The fact that holds the SHA-256 of the operator key, hex. */
export const OPERATOR_KEY = "operatorKey";

// Unknown keys are cached too, so that a flood of wrong keys does not become a flood of queries.
const MAX_ENTRIES = 20_000;
const MAX_HASHES = 1000;

/**
 * Caches recently used keys by hash: one database read per request would cost a third of the send rate. A change made by
 * this process is seen at once, a change made by another process within `maxAgeMs`.
 */
export class KeyCache {
  readonly #db: Db;
  readonly #maxAgeMs: number;
  readonly #realNow: () => number;
  readonly #hashes = growingCache<string, string>(MAX_HASHES);
  readonly #keys = growingCache<string, { key: DeveloperKey | null; at: number }>(MAX_ENTRIES);

  constructor(db: Db, maxAgeMs: number, realNow: () => number) {
    this.#db = db;
    this.#maxAgeMs = maxAgeMs;
    this.#realNow = realNow;
  }

  /** The cached key with this hash, revoked or not; null if no such key exists, undefined if the cache does not know. */
  get(hash: string): DeveloperKey | null | undefined {
    const cached = this.#keys.get(hash);
    if (!cached || (this.#maxAgeMs !== Number.POSITIVE_INFINITY && this.#realNow() - cached.at >= this.#maxAgeMs)) return undefined;
    return cached.key;
  }

  /** Hashes the key of a request. Cached, because hashing takes 3 µs and the same few keys come all the time. */
  hash(key: string): string {
    let hash = this.#hashes.get(key);
    if (hash === undefined) {
      hash = hashKey(key);
      this.#hashes.set(key, hash);
    }
    return hash;
  }

  clear(): void {
    this.#keys.clear();
  }

  /** Reads the key with this hash from the database and caches it; null if there is none. */
  async load(hash: string): Promise<DeveloperKey | null> {
    const at = this.#realNow();
    const { keys } = this.#db.read.t;
    const [row] = await this.#db.read.select().from(keys).where(eq(keys.hash, hash));
    const key = row
      ? {
          id: row.id,
          name: row.name,
          person: null,
          workspaceId: row.workspaceId,
          owner: row.owner,
          test: row.test,
          permissions: new Set(row.permissions),
          revokedAt: row.revokedAt,
          expiresAt: row.expiresAt,
          senders: row.senders,
          networks: readNetworks(row.networks),
        }
      : null;
    this.#keys.set(hash, { key, at });
    return key;
  }

  /** True for the hash of the operator key. Not cached: it is used seldom. */
  async isOperator(hash: string): Promise<boolean> {
    return (await findFact(this.#db.read, OPERATOR_KEY)) === hash;
  }
}

/** Watches the keys of open connections, by their hashes. */
export class KeyWatch extends RevocationWatch {
  constructor(db: Db, clock: Clock) {
    super(async (hashes) => {
      const { keys } = db.read.t;
      const live = await db.read
        .select({ hash: keys.hash })
        .from(keys)
        .where(and(inArray(keys.hash, [...hashes]), isNull(keys.revokedAt), or(isNull(keys.expiresAt), gt(keys.expiresAt, clock.now()))));
      return new Set(live.map(({ hash }) => hash));
    }, clock.real);
  }
}
