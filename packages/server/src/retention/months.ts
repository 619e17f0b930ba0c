import { getTableColumns, getTableName } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import type { Attempt, Kept, MonthlyTable, MonthlyTables, Months } from "../db/months.ts";
import { startOfMonth } from "../lib/month.ts";
import { DAY } from "../lib/units.ts";
import type { MonthsOf, Retention, RetentionByTable, RetentionDeps, StayingRow, Term } from "./declarations.ts";
import type { RetentionPolicy } from "./policy.ts";

/*
 * Databases that divide tables by months (decision 17) drop mail and events with their months, as soon as all of the month is old
 * enough. The other records are deleted row by row, as on SQLite: test mail, and months of which many records have to stay. The
 * tables are divided by the first sweep of a server that does not keep such records forever.
 */

/** Records that are dropped with their months. */
const MONTHLY = ["emails", "events"] as const satisfies readonly (keyof RetentionPolicy)[];
export type Monthly = (typeof MONTHLY)[number];

/** The instant (ms) before which records are old: where they go by months, the beginning of the month in which they would become old. */
export function findCutoff({ db, config, clock }: RetentionDeps, policy: Term): number {
  const days = getDays(config, policy);
  if (days === null) return Number.NEGATIVE_INFINITY;
  const cutoff = clock.now() - days * DAY;
  return db.months && isMonthly(policy) ? startOfMonth(cutoff) : cutoff;
}

/** Returns the days for which records are kept; null for ever. */
export function getDays({ keepDays }: RetentionDeps["config"], policy: Term): number | null {
  return typeof policy === "object" ? policy.days : keepDays[policy];
}

/** True if records of a kind are dropped with their months. */
export function isMonthly(policy: Term): policy is Monthly {
  return (MONTHLY as readonly unknown[]).includes(policy);
}

/** Lists the records that are dropped by months on this server; its sweep then has to run every day. */
export function listMonthly({ db, config }: RetentionDeps): Monthly[] {
  return db.months === null ? [] : MONTHLY.filter((policy) => config.keepDays[policy] !== null);
}

/** `more`: something was done, and more is to be done at once. */
type Progress = Attempt | "more";

/** Drops old months of these records and makes those to come. Returns what is left, and whether that is because others use its tables. */
export async function tendMonths(
  deps: RetentionDeps,
  retention: RetentionByTable,
  policies: readonly Monthly[],
): Promise<{ readonly left: readonly Monthly[]; readonly isLocked: boolean }> {
  const { months } = deps.db;
  if (!months) return { left: [], isLocked: false };
  const left: Monthly[] = [];
  let isLocked = true;
  for (const policy of policies) {
    const progress = await tend(months, deps, listGroups(deps.db.read, retention, policy), findCutoff(deps, policy));
    if (progress !== "done") left.push(policy);
    if (progress === "more") isLocked = false;
  }
  return { left, isLocked: isLocked && left.length > 0 };
}

/** Tells who uses the tables of these records, in words; null if nobody does. */
export async function findTableUser(
  { db: { months, read } }: RetentionDeps,
  retention: RetentionByTable,
  policies: readonly Monthly[],
): Promise<string | null> {
  for (const group of policies.flatMap((policy) => listGroups(read, retention, policy))) {
    const user = await months?.findUser(group);
    if (user) return user;
  }
  return null;
}

/** A table that is divided by months, with those that follow it. */
interface Group extends MonthlyTables {
  readonly name: string;
  readonly listStaying: MonthsOf["listStaying"];
  readonly followers: readonly Follower[];
}

interface Follower extends MonthlyTable {
  /** The column with the key of the row that it follows. */
  readonly column: string;
  readonly by: string;
  readonly stay: ((read: Reader, rows: readonly StayingRow[]) => Promise<readonly StayingRow[]>) | null;
}

/** The tables that are divided by months for an option of `--keep`, in the order of their declarations. */
function listGroups(read: Reader, retention: RetentionByTable, policy: Monthly): Group[] {
  const tables = read.t as unknown as Readonly<Record<string, MonthlyTable["table"]>>;
  const declared = Object.entries<Retention>(retention);
  return declared.flatMap(([name, one]) => {
    const table = tables[name];
    if (typeof one === "string" || !("months" in one) || !one.months || !table || findPolicy(retention, one) !== policy) return [];
    const { key, ...months } = one.months;
    const followers = declared.flatMap(([other, follower]): Follower[] => {
      const followed = tables[other];
      if (typeof follower === "string" || !("with" in follower) || follower.with !== name || !follower.month || !followed) return [];
      const { month: column, stay = null } = follower;
      return [{ table: followed, key: columnOf(followed, column), column, by: key, stay }];
    });
    return [{ ...months, name, followers, tables: [{ table, key: columnOf(table, key) }, ...followers] }];
  });
}

function findPolicy(retention: RetentionByTable, one: Retention): Term | null {
  if (typeof one === "string" || "ends" in one) return null;
  return "policy" in one ? one.policy : findPolicy(retention, retention[one.with]);
}

function columnOf(table: MonthlyTable["table"], name: string) {
  const column = getTableColumns(table)[name];
  if (!column) throw new Error(`${getTableName(table)} has no ${name}`);
  return column;
}

async function tend(months: Months, deps: RetentionDeps, groups: readonly Group[], before: number): Promise<Progress> {
  // Leftovers of earlier sweeps.
  for (const group of groups) if ((await months.clear(group)) === "locked") return "locked";
  for (const group of groups) {
    const progress = await drop(months, deps, group, before);
    if (progress !== "done") return progress;
  }
  return goOn(months, groups, deps.clock.now());
}

/** Makes the months to come, and counters go on in the present one: at last, because nothing may be dropped in the same sweep any more. */
async function goOn(months: Months, groups: readonly Group[], now: number): Promise<Attempt> {
  for (const group of groups) if ((await months.prepare(group, now)) === "locked") return "locked";
  for (const group of groups) await months.advance(group, now);
  return "done";
}

async function drop(months: Months, deps: RetentionDeps, group: Group, before: number): Promise<Progress> {
  const end = await months.findEnd(group, before);
  if (end === null) return "done";
  const staying = await group.listStaying(deps, end, before);
  if (staying === null) return "done";
  if (staying === "more") return "more";
  const kept: Kept[] = [{ table: group.tables[0].table, keys: staying }];
  for (const { table, column, by, stay } of group.followers)
    kept.push({ table, keys: stay ? await stay(deps.db.read, staying) : staying.map((row) => toFollowing(table, column, row, by)) });
  return months.drop(group, end, kept);
}

/** The values that find the rows of a following table, with the workspace where its index begins with that. */
function toFollowing(table: MonthlyTable["table"], column: string, row: StayingRow, by: string): StayingRow {
  const workspaceId = "workspaceId" in getTableColumns(table) ? row["workspaceId"] : undefined;
  return { ...(workspaceId !== undefined && { workspaceId }), [column]: row[by] };
}
