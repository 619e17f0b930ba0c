import type { Db, Reader, Tx } from "../src/db/db.ts";
import { StorageUnavailable } from "../src/db/errors.ts";
import type { TestWorld } from "../src/testing.ts";

/**
 * Loses the answer to the first commit of which `hasHappened`, as when the connection to the database breaks after COMMIT: what was
 * stored is stored, and the server learns of a failure.
 */
export function loseAnswer({ app }: TestWorld, hasHappened: (q: Tx | Reader) => Promise<boolean>): { readonly isLost: boolean } {
  const { db } = app.deps;
  const lost = { isLost: false };
  const { tx } = db;
  const spoilt: Db["tx"] = async (work, options) => {
    if (lost.isLost) return tx(work, options);
    let happened = false;
    const value = await tx(async (q) => {
      const result = await work(q);
      happened = await hasHappened(q);
      return result;
    }, options);
    if (!happened || lost.isLost) return value;
    lost.isLost = true;
    throw new StorageUnavailable("The database cannot work at the moment (connection lost).");
  };
  Object.assign(db, { tx: spoilt });
  return lost;
}
