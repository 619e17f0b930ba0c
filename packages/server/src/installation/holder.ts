import type { Db } from "../db/db.ts";
import { StorageUnavailable } from "../db/errors.ts";
import { findFact, writeFact } from "../db/facts.ts";
import type { Move, Place, Stamp } from "../db/place.ts";

/** The fact that tells which place may send the mail of an installation. */
export const HOLDER = "holder";

/** The place that holds an installation, as the data itself tells. */
interface Holder {
  readonly place: Stamp;
  /** The first start of a server there (ISO 8601). */
  readonly since: string;
  /** The number of starts of a server on this data; counted where the folder remembers it too. */
  readonly starts?: number;
  /** Time of the backup that this data was restored from. */
  readonly backupOf?: string;
  /** The move that took the data of a database away; a folder notes it itself. */
  readonly moved?: Move;
}

/** Facts that a server knows about its place at the start, and the wish of a person. */
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
 * Lets a server send the mail of its data only at the place where the installation lives: one that was copied, restored, moved away or
 * replaced by an older state of itself would send all waiting mail a second time. The first start of an installation takes its place.
 * Throws StorageUnavailable for every other place until a person says that it takes over.
 */
export async function claimPlace(db: Db, { place, takeOver, now }: Claim): Promise<Claimed> {
  const stored = await findFact(db.read, HOLDER);
  const known = stored === null ? null : (JSON.parse(stored) as Holder);
  const moved = place.moved ?? known?.moved ?? null;
  const isOld = (known?.starts ?? 0) < (place.starts ?? 0);
  const isHeld = known !== null && place.isSame(known.place) && known.backupOf === undefined && !isOld;
  if (!takeOver) {
    if (moved !== null) throw explainMove(place.stamp, moved);
    if (known !== null && !isHeld) throw explainCopy(place, known);
  }
  // Counted here first: a kill in between leaves a folder that knows less than its database, which is no sign of an older one.
  const starts = Math.max(known?.starts ?? 0, place.starts ?? 0) + 1;
  const held: Holder = { place: place.stamp, since: isHeld ? known.since : now, ...(place.starts !== null && { starts }) };
  const value = JSON.stringify(held);
  if (value !== stored) await db.tx((tx) => writeFact(tx, HOLDER, value));
  // Last, so that a kill before it leaves a folder that still has to be taken over.
  place.settle(starts);
  if (moved !== null || (known !== null && !isHeld)) return "taken over";
  return known === null ? "taken" : "held";
}

/** The holder of an installation after a move, for the database that it was moved to. */
export function describeHolder(place: Stamp, now: string): string {
  const holder: Holder = { place, since: now };
  return JSON.stringify(holder);
}

/** The holder in a database that was restored from a backup, by that in the backup: nobody, until a person says so. */
export function markRestored(value: string, backupOf: string): string {
  const { moved: _, ...holder } = JSON.parse(value) as Holder;
  return JSON.stringify({ ...holder, backupOf } satisfies Holder);
}

/** The holder in a database that is moved away, by the one before; with null, in one that stays. */
export function markMovedAway(value: string, move: Move | null): string {
  const { moved: _, ...holder } = JSON.parse(value) as Holder;
  return JSON.stringify({ ...holder, ...(move !== null && { moved: move }) } satisfies Holder);
}

/** The move that a holder tells of; null without one. */
export function findMove(value: string): Move | null {
  return (JSON.parse(value) as Holder).moved ?? null;
}

function explainMove({ name }: Stamp, { to, at }: Move): StorageUnavailable {
  return new StorageUnavailable(
    `The data of ${name} was moved to ${to} at ${at}, and its mail is sent from there. Start servers there, with --database-url or --data; if the move did not end, repeat mailsvc migrate. ` +
      "To go back to what is here, stop those servers for good and start once with --take-over; what waited here at that time is sent then.",
  );
}

function explainCopy({ stamp, isSame }: Place, { place, since, backupOf }: Holder): StorageUnavailable {
  if (backupOf === undefined && isSame(place))
    return new StorageUnavailable(
      `The database in ${stamp.name} was replaced by an earlier state of itself. What has left since then would be sent again. ` +
        "To go on from that state, start once with --take-over.",
    );
  const what =
    backupOf === undefined
      ? `is a copy of the installation in ${place.name}, which has been served there since ${since}`
      : `was restored from a backup of ${backupOf}, of the installation in ${place.name}`;
  return new StorageUnavailable(
    `The data in ${stamp.name} ${what}. Two servers would send everything that waits twice. ` +
      "If the other one is stopped for good, start this one once with --take-over.",
  );
}
