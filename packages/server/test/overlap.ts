import { expect } from "vitest";
import type { Tx } from "../src/db/db.ts";
import type { TestWorld } from "../src/testing.ts";

/** Counts of a world's transactions since they are watched. */
interface Overlap {
  /** At most this many were open at a time: one on SQLite, whose gate lets one after the other through. */
  most: number;
  /** So often one was run again because another one had been in its way. */
  repeats: number;
}

/** Watches the transactions of a world: whether a test that means to race does. */
export function watchOverlap({ app: { deps } }: TestWorld): Overlap {
  const { db } = deps;
  const begin = db.tx;
  const seen: Overlap = { most: 0, repeats: 0 };
  let open = 0;
  db.tx = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    let runs = 0;
    return begin(async (tx) => {
      runs += 1;
      if (runs > 1) seen.repeats += 1;
      open += 1;
      seen.most = Math.max(seen.most, open);
      try {
        return await work(tx);
      } finally {
        open -= 1;
      }
    });
  };
  return seen;
}

/** Fails unless transactions were in each other's way, where the database lets them: a test that races must not go in single file. */
export function expectRaced({ app: { deps } }: TestWorld, { most, repeats }: Overlap): void {
  const several = deps.db.engine === "postgres";
  expect([most > 1, repeats > 0]).toEqual([several, several]);
}
