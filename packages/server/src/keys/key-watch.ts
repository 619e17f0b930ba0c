import { and, gt, inArray, isNull, or } from "drizzle-orm";
import type { Db } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import { RevocationWatch } from "../lib/revocation-watch.ts";

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
