import type { Page } from "@mailsvc/sdk/contract";
import { and, desc, lt, type SQL, type Subquery, sql } from "drizzle-orm";
import type { PgColumn, PgTable, SelectedFields } from "drizzle-orm/pg-core";
import type { SelectResultFields } from "drizzle-orm/query-builders/select.types";
import { invalid } from "../lib/api-error.ts";
import type { Reader } from "./db.ts";

/** The paging fields of a list request, parsed. */
export interface PageInput {
  page: number;
  limit: number;
  cursor?: string | undefined;
}

/** A table whose ids sort by time. */
type ListedTable = PgTable & { readonly id: PgColumn };

/** Definition of a list of one table. */
interface ListQuery<Table, Row, Item> {
  readonly table: Table;
  readonly where: SQL | undefined;
  /** A further condition that no index serves: matches are counted among the newest 2,500 rows of `where`. */
  readonly unindexed?: SQL | undefined;
  toItem(row: Row): Item;
}

/** Number of rows; at least `total` when counting stopped at a limit. */
export interface Total {
  readonly total: number;
  readonly isMinimum: boolean;
}

/** A query that selects `ONE`. */
interface Countable {
  limit(n: number): { as(alias: string): Subquery };
}

type Selecting = Pick<Reader<unknown>, "select">;

// Counting this many rows takes a few milliseconds, counting a million half a second, on the event loop in case of SQLite.
export const MAX_COUNTED = 10_000;

// Reading this many rows of a large table takes 10 ms.
const MAX_EXAMINED = 2500;

/**
 * A page of one table, newest first: of whole rows, or of some `columns`. More than 10,000 rows are not counted: the
 * page then says that its total is a minimum. Throws ApiError validation_error for a
 * cursor of another list, and for a page number beyond the counted rows.
 */
export function listPage<Table extends ListedTable, Item>(
  read: Selecting,
  input: PageInput,
  query: ListQuery<Table, Table["$inferSelect"], Item>,
): Promise<Page<Item>>;
export function listPage<Columns extends SelectedFields & { id: PgColumn }, Item>(
  read: Selecting,
  input: PageInput,
  query: ListQuery<ListedTable, SelectResultFields<Columns>, Item> & { readonly columns: Columns },
): Promise<Page<Item>>;
export function listPage<Item>(
  read: Selecting,
  input: PageInput,
  { table, columns, where, unindexed, toItem }: ListQuery<ListedTable, { id: string }, Item> & { readonly columns?: SelectedFields },
): Promise<Page<Item>> {
  return paginateById(
    input,
    async ({ before, limit, offset }) => {
      const rows = await (columns === undefined ? read.select() : read.select(columns))
        .from(table as PgTable)
        .where(and(where, unindexed, before === null ? undefined : lt(table.id, before)))
        .orderBy(desc(table.id))
        .limit(limit)
        .offset(offset);
      return rows as { id: string }[];
    },
    () => countFiltered(read, table, { where, unindexed }, table.id),
    toItem,
  );
}

/** The selected column of a query whose rows are only counted. */
export const ONE = { one: sql<number>`1`.as("one") };

/** Counts the rows of a query that selects `ONE`, up to 10,000. */
export async function countQuery(read: Selecting, query: Countable): Promise<Total> {
  const n = await countUpTo(read, query, MAX_COUNTED + 1);
  return { total: Math.min(n, MAX_COUNTED), isMinimum: n > MAX_COUNTED };
}

/** Counts the rows of one table, up to 10,000. */
export function countRows(read: Selecting, table: PgTable, where: SQL | undefined): Promise<Total> {
  return countQuery(read, read.select(ONE).from(table).where(where));
}

/** A filter of a list: `condition` is served by an index that begins with the columns of `scope`. */
export interface Filter {
  readonly scope: SQL | undefined;
  readonly condition: SQL;
}

/** Filters in the form in which a list uses them: an index finds the rows of `where`, and these are read to check `unindexed`. */
export interface ChosenFilters {
  readonly where: SQL | undefined;
  readonly unindexed: SQL | undefined;
}

/**
 * Chooses among filters the one whose index is used: the one that fewest rows match, counted up to 2,500. If all match more, it is the
 * first one: the rows of the page are then met soon on the way down.
 */
export async function chooseFilter(
  read: Selecting & Pick<Reader<unknown>, "sqlDialect">,
  table: PgTable,
  filters: readonly Filter[],
): Promise<ChosenFilters> {
  let chosen = 0;
  if (filters.length > 1) {
    const counts: number[] = [];
    // Without the hint SQLite would prefer another index to a partial one.
    for (const { scope, condition } of filters)
      counts.push(await countExamined(read, table, and(scope, read.sqlDialect.rarely(condition))));
    chosen = counts.indexOf(Math.min(...counts));
  }
  const { scope, condition } = filters[chosen] ?? {};
  const { rarely, usually } = read.sqlDialect;
  return {
    where: and(scope, condition && rarely(condition)),
    unindexed: and(...filters.filter((_, i) => i !== chosen).map((other) => usually(other.condition))),
  };
}

/** True if at most 2,500 rows match, so that a list may read and sort them. */
export async function isRare(read: Selecting, table: PgTable, where: SQL | undefined): Promise<boolean> {
  return (await countExamined(read, table, where)) <= MAX_EXAMINED;
}

/** Counts the rows of one table that filters match: exactly up to 10,000, or among the newest 2,500 where rows have to be read to tell. */
export async function countFiltered(read: Selecting, table: PgTable, { where, unindexed }: ChosenFilters, order: PgColumn): Promise<Total> {
  if (unindexed === undefined) return countRows(read, table, where);
  const examined = read
    .select({ matches: sql<number>`case when ${unindexed} then 1 else 0 end`.as("matches") })
    .from(table)
    .where(where)
    .orderBy(desc(order))
    .limit(MAX_EXAMINED + 1)
    .as("examined");
  const [row] = await read
    .select({ examined: sql<number>`count(*)`.mapWith(Number), total: sql<number>`coalesce(sum(${examined.matches}), 0)`.mapWith(Number) })
    .from(examined);
  return { total: row?.total ?? 0, isMinimum: (row?.examined ?? 0) > MAX_EXAMINED };
}

/** The total of a list that is merged from several sources. */
export function addTotals(totals: readonly Total[]): Total {
  return { total: totals.reduce((sum, { total }) => sum + total, 0), isMinimum: totals.some(({ isMinimum }) => isMinimum) };
}

/** The slice of a list that a page shows: `limit` rows after `offset`, beyond the place `before` if there is one. */
interface SliceAfter<Place> {
  before: Place | null;
  limit: number;
  offset: number;
}

/** The slice of a list by ids: rows with a smaller one than `before`. */
export type Slice = SliceAfter<string>;

/** The slice of a list by time, newest first: rows before an instant, and those at the instant with a smaller key. */
export type TimeSlice = SliceAfter<{ at: number; key: number }>;

/** The slice of a list by sequence numbers, largest first: rows with a number below `below`. */
export interface SeqSlice {
  below: number;
  limit: number;
  offset: number;
}

/** A page of a list whose cursors `toPlace` reads. One row more than the page holds is read to learn whether there is a next page. */
async function paginate<Place, Row, Item>(
  input: PageInput,
  { toPlace, toCursor }: { toPlace: (cursor: string) => Place; toCursor: (row: Row) => string },
  rows: (slice: SliceAfter<Place>) => Promise<Row[]>,
  count: () => Promise<Total | number>,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> {
  const before = input.cursor === undefined ? null : toPlace(input.cursor);
  const offset = before === null ? (input.page - 1) * input.limit : 0;
  if (offset > MAX_COUNTED) return buildPage(input, [], assertBehindEnd(await count()), toItem, toCursor);
  const found = await rows({ before, limit: input.limit + 1, offset });
  return buildPage(input, found, await count(), toItem, toCursor);
}

/** `listPage` for lists that need their own queries: `rows` reads a slice, `count` the total. */
export function paginateById<Row extends { id: string }, Item>(
  input: PageInput,
  rows: (slice: Slice) => Promise<Row[]>,
  count: () => Promise<Total | number>,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> {
  const ofThisList = async (slice: Slice): Promise<Row[]> => {
    const found = await rows(slice);
    if (slice.before !== null && found[0] && prefixOf(found[0].id) !== prefixOf(slice.before)) throw foreignCursor();
    return found;
  };
  return paginate(input, { toPlace: decodeId, toCursor: ({ id }: Row) => id }, ofThisList, count, toItem);
}

/** `paginateById` for a list sorted by sequence number, largest first. */
export function paginateBySeq<Row extends { seq: number }, Item>(
  input: PageInput,
  rows: (slice: SeqSlice) => Promise<Row[]>,
  count: () => Promise<Total | number>,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> {
  return paginate(input, BY_SEQ, ({ before, ...rest }) => rows({ below: before ?? Number.MAX_SAFE_INTEGER, ...rest }), count, toItem);
}

/** The same, smallest first, after the number `after`: a client that follows the list continues after the last row it saw. */
export function paginateAscending<Row extends { seq: number }, Item>(
  input: PageInput,
  after: number,
  rows: (slice: { above: number; limit: number; offset: number }) => Promise<Row[]>,
  count: () => Promise<Total | number>,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> {
  return paginate(input, BY_SEQ, ({ before, ...rest }) => rows({ above: Math.max(after, before ?? 0), ...rest }), count, toItem);
}

/** `paginateById` for a list sorted by time and key, newest first. */
export function paginateByTime<Row extends { at: number; key: number }, Item>(
  input: PageInput,
  rows: (slice: TimeSlice) => Promise<Row[]>,
  count: () => Promise<Total | number>,
  toItem: (row: Row) => Item,
): Promise<Page<Item>> {
  return paginate(input, { toPlace: decodeTime, toCursor: ({ at, key }: Row) => `@${at}.${key}` }, rows, count, toItem);
}

const BY_SEQ = { toPlace: decodeSeq, toCursor: ({ seq }: { seq: number }) => `#${seq}` };

/** The cursor of a list by sequence numbers that continues after this one. */
export function toSeqCursor(seq: number): string {
  return encodeCursor(`#${seq}`);
}

/** The cursor of a list by ids that continues after this one. */
export function toIdCursor(id: string): string {
  return encodeCursor(id);
}

function countExamined(read: Selecting, table: PgTable, where: SQL | undefined): Promise<number> {
  return countUpTo(read, read.select(ONE).from(table).where(where), MAX_EXAMINED + 1);
}

/** Counts the rows of a query that selects `ONE`, up to `limit`. */
export async function countUpTo(read: Selecting, query: Countable, limit: number): Promise<number> {
  const [row] = await read.select({ n: sql<number>`count(*)`.mapWith(Number) }).from(query.limit(limit).as("counted"));
  return row?.n ?? 0;
}

function buildPage<Row, Item>(
  input: PageInput,
  found: Row[],
  count: Total | number,
  toItem: (row: Row) => Item,
  toCursor: (row: Row) => string,
): Page<Item> {
  const { total, isMinimum } = typeof count === "number" ? { total: count, isMinimum: false } : count;
  const hasMore = found.length > input.limit;
  const shown = found.slice(0, input.limit);
  const last = shown.at(-1);
  return {
    data: shown.map(toItem),
    pagination: {
      page: input.page,
      limit: input.limit,
      total,
      totalPages: Math.ceil(total / input.limit),
      hasMore,
      nextCursor: hasMore && last ? encodeCursor(toCursor(last)) : null,
      ...(isMinimum && { totalIsMinimum: true as const }),
    },
  };
}

/**
 * Returns the number of entries of a list, where a page beyond the counted ones is behind its end. Throws ApiError validation_error for a
 * longer list: rows before a page are read only to be skipped, so its far pages are reached with cursors.
 */
function assertBehindEnd(count: Total | number): Total | number {
  if (typeof count === "number" ? count <= MAX_COUNTED : !count.isMinimum) return count;
  throw invalid(
    "page",
    "too_far",
    `Only the first ${MAX_COUNTED.toLocaleString("en-US")} entries have page numbers. Continue with pagination.nextCursor as cursor.`,
  );
}

function encodeCursor(text: string): string {
  return Buffer.from(text).toString("base64url");
}

function decodeId(cursor: string): string {
  const id = Buffer.from(cursor, "base64url").toString();
  if (!/^[a-z]+_[0-9a-z]{26}$/.test(id)) throw foreignCursor();
  return id;
}

function decodeSeq(cursor: string): number {
  const seq = /^#(\d{1,15})$/.exec(Buffer.from(cursor, "base64url").toString())?.[1];
  if (seq === undefined) throw foreignCursor();
  return Number(seq);
}

function decodeTime(cursor: string): { at: number; key: number } {
  const [, at, key] = /^@(-?\d{1,16})\.(\d{1,15})$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (at === undefined || key === undefined) throw foreignCursor();
  return { at: Number(at), key: Number(key) };
}

function prefixOf(id: string): string {
  return id.slice(0, id.indexOf("_"));
}

/** 400 for a cursor that is not from the list it is given to. */
export function foreignCursor(): Error {
  return invalid("cursor", "invalid_cursor", "This cursor does not belong to this list. Use nextCursor of the previous page.");
}
