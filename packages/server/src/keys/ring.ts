import type { Permission } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Db } from "../db/db.ts";
import { hashKey } from "./secret.ts";

/** A live key, as requests carry it around. */
export interface KeyInfo {
  readonly id: string;
  readonly workspaceId: string;
  readonly owner: boolean;
  readonly permissions: ReadonlySet<Permission>;
  readonly revokedAt: number | null;
}

// Unknown keys are remembered too, so that a flood of wrong keys does not become a flood of queries.
const MAX_ENTRIES = 20_000;
const MAX_HASHES = 1000;

/**
 * The keys seen lately, by hash, in memory: one database read for each request would cost a third of the send rate.
 * Changes made by this process show at once; those of other processes within `maxAgeMs`.
 */
export class KeyRing {
  readonly #db: Db;
  readonly #maxAgeMs: number;
  readonly #realNow: () => number;
  readonly #hashes = new Map<string, string>();
  readonly #known = new Map<string, { key: KeyInfo | null; at: number }>();

  constructor(db: Db, maxAgeMs: number, realNow: () => number) {
    this.#db = db;
    this.#maxAgeMs = maxAgeMs;
    this.#realNow = realNow;
  }

  /** The key with this hash, revoked ones included, if it was seen lately: null when there is none, undefined when not known. */
  known(hash: string): KeyInfo | null | undefined {
    const known = this.#known.get(hash);
    if (!known || (this.#maxAgeMs !== Number.POSITIVE_INFINITY && this.#realNow() - known.at >= this.#maxAgeMs)) return undefined;
    return known.key;
  }

  /** The hash of a key that came with a request. Remembered, since hashing takes 3 µs and the same few keys come all the time. */
  hashOf(key: string): string {
    let hash = this.#hashes.get(key);
    if (hash === undefined) {
      hash = hashKey(key);
      if (this.#hashes.size >= MAX_HASHES) this.#hashes.clear();
      this.#hashes.set(key, hash);
    }
    return hash;
  }

  clear(): void {
    this.#known.clear();
  }

  /** Looks the key up and remembers it. */
  async load(hash: string): Promise<KeyInfo | null> {
    const at = this.#realNow();
    const { keys } = this.#db.read.t;
    const [row] = await this.#db.read.select().from(keys).where(eq(keys.hash, hash));
    const key = row
      ? { id: row.id, workspaceId: row.workspaceId, owner: row.owner, permissions: new Set(row.permissions), revokedAt: row.revokedAt }
      : null;
    if (this.#known.size >= MAX_ENTRIES) this.#known.clear();
    this.#known.set(hash, { key, at });
    return key;
  }
}
