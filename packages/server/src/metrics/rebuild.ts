import { and, asc, eq, gte, lte } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { holdReader, positionOf, type RebuildPart } from "../events/events.ts";
import { DAY } from "../lib/units.ts";
import { COUNTED_TYPES, countEvents, INDEX, NUMBERS_OF_MAIL, type Place, type Sum, Sums } from "./counting.ts";
import { METRICS_READER } from "./metrics.ts";
import { type Quarters, unpackDay } from "./packed-day.ts";
import { nameOf, readEvents } from "./recount.ts";
import { addSums } from "./rows.ts";

/** Counts the next day that has events anew, and returns it; null if there is none. Days are those of UTC, since 1970. */
export async function rebuildMetrics(tx: Tx, workspaceId: string, { from, after }: RebuildPart): Promise<number | null> {
  const day = await findNextDay(tx, workspaceId, Math.max(from ?? 0, after === 0 ? 0 : (after + 1) * DAY));
  if (day !== null) await rebuildDay(tx, workspaceId, day);
  return day;
}

async function findNextDay(tx: Tx, workspaceId: string, from: number): Promise<number | null> {
  const { events: e } = tx.t;
  let first: number | null = null;
  for (const type of COUNTED_TYPES) {
    const [event] = await tx
      .select({ at: e.at })
      .from(e)
      .where(and(eq(e.workspaceId, workspaceId), eq(e.type, type), gte(e.at, from)))
      .orderBy(asc(e.at))
      .limit(1);
    if (event !== undefined && (first === null || event.at < first)) first = event.at;
  }
  return first === null ? null : Math.floor(first / DAY);
}

/**
 * Replaces the rows of a day. Without the mail of some events, only those of all mail, and there the numbers that events alone say: no
 * other one could be complete.
 */
async function rebuildDay(tx: Tx, workspaceId: string, day: number): Promise<void> {
  const { mailMetrics: t } = tx.t;
  const counted = await holdReader(tx, METRICS_READER, workspaceId);
  const sums = new Sums();
  let unknown = 0;
  for await (const events of readEvents(tx, workspaceId, day, lte(positionOf(tx.t), counted)))
    unknown += await countEvents(tx, workspaceId, events, sums);
  const isWhole = ({ dimension }: Pick<Place, "dimension">): boolean => unknown === 0 || dimension === "all";
  const before = (
    await tx
      .select()
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), eq(t.day, day)))
  ).filter((row) => isWhole(row as Place));
  await tx.deleteAll(
    t,
    before.map(({ test, dimension, value }) => ({ workspaceId, test, dimension, day, value })),
  );
  // Erased people stay counted.
  const erased = before.flatMap((row) => (row.erased === null ? [] : { place: toPlace(row as Place), quarters: unpackDay(row.erased) }));
  await addSums(tx, workspaceId, erased);
  await addSums(tx, workspaceId, erased, "erased");
  const whole = sums.all.filter(({ place }) => isWhole(place));
  const rows = unknown === 0 ? whole : whole.map((sum) => keepNumbersOfMail(sum, before, erased));
  // Values that had rows of their own keep them.
  const named = new Set(before.map((row) => nameOf(row as Place)));
  await addSums(
    tx,
    workspaceId,
    rows.toSorted((a, b) => Number(named.has(nameOf(b.place))) - Number(named.has(nameOf(a.place)))),
  );
}

/** Numbers of a row, with those that need the mail as they were before, without those of erased people. */
function keepNumbersOfMail(
  { place, quarters }: Sum,
  before: readonly (Omit<Place, "dimension"> & { readonly dimension: string; readonly counts: Uint8Array })[],
  erased: readonly Sum[],
): Sum {
  const isSame = (other: Place): boolean => nameOf(other) === nameOf(place);
  const row = before.find((one) => isSame(one as Place));
  const counted: Quarters = row === undefined ? new Map() : unpackDay(row.counts);
  const gone: Quarters = erased.find((one) => isSame(one.place))?.quarters ?? new Map();
  const kept = [...quarters].map(([quarter, numbers]): [number, number[]] => {
    const mixed = [...numbers];
    for (const metric of NUMBERS_OF_MAIL) {
      const i = INDEX[metric];
      mixed[i] = (counted.get(quarter)?.[i] ?? 0) - (gone.get(quarter)?.[i] ?? 0);
    }
    return [quarter, mixed];
  });
  return { place, quarters: new Map(kept) };
}

function toPlace({ test, dimension, day, value }: Place): Place {
  return { test, dimension, day, value };
}
