import type { Page } from "@mailsvc/sdk/contract";
import { invalid } from "../lib/api-error.ts";

/** The paging fields of a list request, parsed. */
export interface PageInput {
  page: number;
  limit: number;
  cursor?: string | undefined;
}

/** Which rows a list wants: those with an id before `before`, `limit` of them after `offset`. */
export interface Slice {
  before: string | null;
  limit: number;
  offset: number;
}

/**
 * A page of a list sorted newest first, by ids that sort by time (SPEC 4). `rows` reads a slice, `count` the total.
 * One row more than asked for tells whether there are more.
 */
export async function pageOf<Row extends { id: string }, Item>(
  input: PageInput,
  rows: (slice: Slice) => Promise<Row[]>,
  count: () => Promise<number>,
  show: (row: Row) => Item,
): Promise<Page<Item>> {
  const before = input.cursor === undefined ? null : decode(input.cursor);
  const found = await rows({ before, limit: input.limit + 1, offset: before === null ? (input.page - 1) * input.limit : 0 });
  if (before !== null && found[0] && kindOf(found[0].id) !== kindOf(before)) throw notOfThisList();
  return paged(input, found, await count(), show, (row) => row.id);
}

/** Which rows a list by numbers wants: those with a number below `below`, `limit` of them after `offset`. */
export interface SeqSlice {
  below: number;
  limit: number;
  offset: number;
}

/** `pageOf` for a list sorted by numbers that count up, largest first. */
export async function pageBySeq<Row extends { seq: number }, Item>(
  input: PageInput,
  rows: (slice: SeqSlice) => Promise<Row[]>,
  count: () => Promise<number>,
  show: (row: Row) => Item,
): Promise<Page<Item>> {
  const below = input.cursor === undefined ? null : decodeSeq(input.cursor);
  const found = await rows({
    below: below ?? Number.MAX_SAFE_INTEGER,
    limit: input.limit + 1,
    offset: below === null ? (input.page - 1) * input.limit : 0,
  });
  return paged(input, found, await count(), show, (row) => `#${row.seq}`);
}

/** Which rows a list by numbers wants that is read forwards: `limit` of them with a number above `above`. */
export interface SeqForward {
  above: number;
  limit: number;
  offset: number;
}

/** `pageOf` for a list sorted by numbers that count up, smallest first: whoever follows it goes on after the last one he saw. */
export async function pageForward<Row extends { seq: number }, Item>(
  input: PageInput,
  after: number,
  rows: (slice: SeqForward) => Promise<Row[]>,
  count: () => Promise<number>,
  show: (row: Row) => Item,
): Promise<Page<Item>> {
  const above = input.cursor === undefined ? null : decodeSeq(input.cursor);
  const found = await rows({
    above: Math.max(after, above ?? 0),
    limit: input.limit + 1,
    offset: above === null ? (input.page - 1) * input.limit : 0,
  });
  return paged(input, found, await count(), show, (row) => `#${row.seq}`);
}

function encode(id: string): string {
  return Buffer.from(id).toString("base64url");
}

function notOfThisList(): Error {
  return invalid("cursor", "invalid_cursor", "This is no cursor of this list. Take pagination.nextCursor of the page before.");
}

function decode(cursor: string): string {
  const id = Buffer.from(cursor, "base64url").toString();
  if (!/^[a-z]+_[0-9a-z]{26}$/.test(id)) throw notOfThisList();
  return id;
}

function kindOf(id: string): string {
  return id.slice(0, id.indexOf("_"));
}

function paged<Row, Item>(
  input: PageInput,
  found: Row[],
  total: number,
  show: (row: Row) => Item,
  cursorOf: (row: Row) => string,
): Page<Item> {
  const hasMore = found.length > input.limit;
  const shown = found.slice(0, input.limit);
  const last = shown.at(-1);
  return {
    data: shown.map(show),
    pagination: {
      page: input.page,
      limit: input.limit,
      total,
      totalPages: Math.ceil(total / input.limit),
      hasMore,
      nextCursor: hasMore && last ? encode(cursorOf(last)) : null,
    },
  };
}

function decodeSeq(cursor: string): number {
  const seq = /^#(\d{1,15})$/.exec(Buffer.from(cursor, "base64url").toString())?.[1];
  if (seq === undefined) throw notOfThisList();
  return Number(seq);
}
