import { and, count, eq } from "drizzle-orm";
import type { RowChange, Tx } from "../db/db.ts";
import type { Dimension, Place, Sum } from "./counting.ts";
import { EMPTY_DAY, sumDay, sumQuarters } from "./packed-day.ts";
import type { MetricsTables } from "./tables.ts";

/** The most values of a dimension that have rows of their own on a day; what comes later has the row `OTHER`. */
export const VALUES_A_DAY = 200;

/** The value of the row for all values without one. */
export const OTHER = "";

/** The numbers of a row that are changed. */
type Column = "counts" | "erased";

/**
 * Adds numbers to the rows of a workspace. The transaction holds the position of the reader of a workspace, so nobody else changes these
 * rows at the same time.
 */
export async function addSums(tx: Tx, workspaceId: string, sums: readonly Sum[], column: Column = "counts"): Promise<void> {
  const { mailMetrics: t } = tx.t;
  const keyOf = ({ place }: { readonly place: Place }) => ({ workspaceId, ...place });
  const found = sums.length === 0 ? [] : await tx.lookUp(t, sums.map(keyOf));
  const added: Sum[] = [];
  const changed: RowChange<MetricsTables["mailMetrics"]>[] = [];
  const left: Sum[] = [];
  const room = new Map<string, number>();
  for (const [i, sum] of sums.entries()) {
    const row = found[i]?.[0];
    if (row !== undefined) changed.push({ where: keyOf(sum), set: { [column]: sumDay(row[column], sum.quarters) } });
    else if (sum.place.value === OTHER || (await takeRoom(tx, workspaceId, sum.place, room))) added.push(sum);
    else left.push(sum);
  }
  const rows = added.map((sum) => ({ ...keyOf(sum), counts: EMPTY_DAY, erased: null, [column]: sumDay(null, sum.quarters) }));
  if (changed.length > 0) await tx.updateAll(t, changed);
  if (rows.length > 0) await tx.insertAll(t, rows);
  if (left.length > 0) await addSums(tx, workspaceId, mergeOthers(left), column);
}

/** True while a dimension may have another row on a day. */
async function takeRoom(tx: Tx, workspaceId: string, place: Place, room: Map<string, number>): Promise<boolean> {
  const { test, dimension, day } = place;
  const key = `${test} ${dimension} ${day}`;
  const left = room.get(key) ?? VALUES_A_DAY - (await countValues(tx, workspaceId, place));
  room.set(key, left - 1);
  return left > 0;
}

async function countValues(tx: Tx, workspaceId: string, { test, dimension, day }: Omit<Place, "value">): Promise<number> {
  const { mailMetrics: t } = tx.t;
  const [row] = await tx
    .select({ n: count() })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.test, test), eq(t.dimension, dimension), eq(t.day, day)));
  return row?.n ?? 0;
}

/** Puts the numbers of values without a row together. */
function mergeOthers(sums: readonly Sum[]): Sum[] {
  const merged = new Map<string, Sum>();
  for (const { place, quarters } of sums) {
    const key = `${place.test} ${place.dimension} ${place.day}`;
    const before = merged.get(key)?.quarters;
    merged.set(key, { place: { ...place, value: OTHER }, quarters: before === undefined ? quarters : sumQuarters(before, quarters) });
  }
  return [...merged.values()];
}

/** The rows of a dimension with these days. */
export interface DayRange {
  readonly test: boolean;
  readonly dimension: Dimension;
  readonly from: number;
  readonly to: number;
}
