import { eq } from "drizzle-orm";
import type { Db } from "../db/db.ts";
import { StorageUnavailable } from "../db/errors.ts";
import type { Place, Stamp } from "../db/place.ts";

/** The fact that tells which place may send the mail of an installation. */
export const HOLDER = "holder";

/** The place that holds an installation, as the data itself tells. */
interface Holder {
  readonly place: Stamp;
  /** The first start of a server there (ISO 8601). */
  readonly since: string;
  /** When the backup was made that this data was restored from. */
  readonly backupOf?: string;
}

/** What a server that starts knows about its place, and was told by a person. */
interface Claim {
  readonly place: Place;
  /** Makes this place the holder, whatever the data tells. */
  readonly takeOver: boolean;
  /** The present instant, ISO 8601. */
  readonly now: string;
}

/** The outcome: `held` before, `taken` for the first time, or `taken over` from another place. */
type Claimed = "held" | "taken" | "taken over";

/**
 * Lets a server send the mail of its data only where the installation lives: one that was copied, restored or moved away would send all
 * that waits a second time. The first start of an installation takes its place. Throws StorageUnavailable for every other place until a
 * person says that it takes over.
 */
export async function claimPlace(db: Db, { place, takeOver, now }: Claim): Promise<Claimed> {
  const { meta } = db.read.t;
  const [row] = await db.read.select().from(meta).where(eq(meta.name, HOLDER));
  const known = row === undefined ? null : (JSON.parse(row.value) as Holder);
  const isHeld = known !== null && place.isSame(known.place) && known.backupOf === undefined;
  if (!takeOver) {
    if (place.moved !== null) throw explainMove(place);
    if (known !== null && !isHeld) throw explainCopy(place, known);
  }
  const held: Holder = { place: place.stamp, since: isHeld ? known.since : now };
  const value = JSON.stringify(held);
  if (value !== row?.value)
    await db.tx(async (tx) => {
      const values = { name: HOLDER, value };
      await tx.insert(tx.t.meta).values(values).onConflictDoUpdate({ target: tx.t.meta.name, set: { value } });
    });
  const moved = place.moved !== null;
  // Last, so that a kill before it leaves a folder that still has to be taken over.
  if (moved) place.stay();
  if (moved || (known !== null && !isHeld)) return "taken over";
  return known === null ? "taken" : "held";
}

/** The holder of an installation after a move, for the database that it was moved to. */
export function describeHolder(place: Place, now: string): string {
  const holder: Holder = { place: place.stamp, since: now };
  return JSON.stringify(holder);
}

/** The holder in a database that was restored from a backup, by that in the backup: nobody, until a person says so. */
export function markRestored(value: string, backupOf: string): string {
  const holder: Holder = { ...(JSON.parse(value) as Holder), backupOf };
  return JSON.stringify(holder);
}

function explainMove({ stamp, moved }: Place): StorageUnavailable {
  return new StorageUnavailable(
    `The data of ${stamp.name} was moved to ${moved?.to} at ${moved?.at}, and its mail is sent from there. Start servers with --database-url; if the move did not end, repeat mailsvc migrate. ` +
      "To go back to what this folder holds, stop those servers for good and start once with --take-over; what waited here at that time is sent then.",
  );
}

function explainCopy({ stamp }: Place, { place, since, backupOf }: Holder): StorageUnavailable {
  const what =
    backupOf === undefined
      ? `is a copy of the installation in ${place.name}, which has been served there since ${since}`
      : `was restored from a backup of ${backupOf}, of the installation in ${place.name}`;
  return new StorageUnavailable(
    `The data in ${stamp.name} ${what}. Two servers would send everything that waits twice. ` +
      "If the other one is stopped for good, start this one once with --take-over.",
  );
}
