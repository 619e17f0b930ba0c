import type { Tx } from "../db/db.ts";
import { hashKey } from "./idempotency.ts";

/** Identifies a part of a request that has its own idempotency key. */
export interface PartClaim {
  readonly keyId: string;
  /** Kind of the part: one key may be used for different things. */
  readonly route: string;
  readonly idempotencyKey: string;
  /** A hash of the part without the key, as it was sent. */
  readonly contentHash: string;
}

/** State of a part: null for a new one, its earlier answer, or that its key was used for something else. */
export type EarlierAnswer = { readonly answer: string } | "reused" | null;

/** Remembers for 24 hours what was answered to parts of requests, in the transaction of their effects. */
export interface PartAnswers {
  /** Finds the state of each part, in their order. */
  find(tx: Tx, claims: readonly PartClaim[]): Promise<EarlierAnswer[]>;
  store(tx: Tx, parts: readonly { readonly claim: PartClaim; readonly answer: string }[], now: number): Promise<void>;
}

/** The answers to parts of requests, next to those to whole requests. They are not encrypted. */
export const partAnswers: PartAnswers = {
  find: async (tx, claims) => {
    const rows = await tx.lookUp(tx.t.idempotency, claims.map(toKey));
    return claims.map((claim, i) => {
      const [found] = rows[i] ?? [];
      if (!found) return null;
      return found.requestHash === claim.contentHash ? { answer: found.answer } : "reused";
    });
  },
  store: async (tx, parts, now) => {
    const rows = parts.map(({ claim, answer }) => {
      return { ...toKey(claim), requestHash: claim.contentHash, status: 200, answer, createdAt: now };
    });
    if (rows.length > 0) await tx.insertAll(tx.t.idempotency, rows);
  },
};

function toKey({ keyId, route, idempotencyKey }: PartClaim) {
  return { keyId, route, idempotencyKey: hashKey(keyId, idempotencyKey) };
}
