import type { Page } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { toIdCursor } from "../../db/pagination.ts";
import { type ApiError, invalid, nullIfNotFound } from "../../lib/api-error.ts";

/** Paging of a list: after an id, or before one, towards newer ones. */
export const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.string().max(100).optional(),
  before: z.string().max(100).optional(),
});
type ListInput = z.output<typeof listQuery>;

/** Paging of a short list. Without `limit`, a response has all items. */
export const partQuery = listQuery.extend({ limit: z.coerce.number().int().min(1).max(100).optional() });

/** The paging fields of a call of the contract. */
interface PageCall {
  limit: number;
  cursor?: string;
}

// The largest page of the contract.
const PAGE = 100;
// Pages of the contract go towards older ones only, so what is newer than an id is looked for from the start, this far.
const MAX_PAGES = 20;

/** The cursor that continues after an item; throws ApiError not_found for an unknown id. */
type FindCursor = (id: string) => Promise<string>;

/**
 * Returns a list as Resend does, newest first. `findCursor` is for lists that are not in the order of their ids. Throws ApiError
 * validation_error for an id that is not in the list.
 */
export async function answerList<Item extends { readonly id: string }>(
  { limit, after, before }: ListInput,
  load: (page: PageCall) => Promise<Page<Item>>,
  show: (item: Item) => object,
  findCursor: FindCursor = async (id) => toIdCursor(id),
): Promise<object> {
  if (after !== undefined && before !== undefined) throw invalid("after", "unexpected", "Give either after or before.");
  if (before !== undefined) return answerBefore(before, limit, load, show);
  const { items, hasMore } = await fillPage(limit, after === undefined ? undefined : await toCursor(after, findCursor), load);
  return { object: "list", has_more: hasMore, data: items.map(show) };
}

/**
 * Returns a part of a short list, as Resend does, by the ids that `show` gives its items. Throws ApiError validation_error for an id that
 * is not among them.
 */
export function answerPart<Item>(
  { limit, after, before }: z.output<typeof partQuery>,
  items: readonly Item[],
  show: (item: Item, index: number) => { readonly id: string },
): object {
  if (after !== undefined && before !== undefined) throw invalid("after", "unexpected", "Give either after or before.");
  const all = items.map(show);
  const find = (name: string, id: string): number => {
    const at = all.findIndex((item) => item.id === id);
    if (at < 0) throw notListed(name);
    return at;
  };
  const rest = before === undefined ? all.slice(after === undefined ? 0 : find("after", after) + 1) : all.slice(0, find("before", before));
  const size = limit ?? rest.length;
  const data = before === undefined ? rest.slice(0, size) : rest.slice(rest.length - Math.min(size, rest.length));
  return { object: "list", has_more: rest.length > data.length, data };
}

/** Reads on until a page is full: `load` may leave out items of the contract's list. */
async function fillPage<Item>(limit: number, after: string | undefined, load: (page: PageCall) => Promise<Page<Item>>) {
  const items: Item[] = [];
  let call: PageCall = { limit, ...(after !== undefined && { cursor: after }) };
  for (;;) {
    const { data, pagination } = await load(call);
    items.push(...data);
    if (data.length === limit && items.length === limit) return { items, hasMore: pagination.hasMore };
    if (items.length > limit || pagination.nextCursor === null) return { items: items.slice(0, limit), hasMore: items.length > limit };
    call = { limit: PAGE, cursor: pagination.nextCursor };
  }
}

/** The items just before the one with an id, that is: newer ones. */
async function answerBefore<Item extends { readonly id: string }>(
  id: string,
  limit: number,
  load: (page: PageCall) => Promise<Page<Item>>,
  show: (item: Item) => object,
): Promise<object> {
  assertId("before", id);
  const newer: Item[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data, pagination } = await load({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    const at = data.findIndex((item) => item.id === id);
    newer.push(...(at < 0 ? data : data.slice(0, at)));
    if (at >= 0) return { object: "list", has_more: newer.length > limit, data: newer.slice(-limit).map(show) };
    if (pagination.nextCursor === null) break;
    cursor = pagination.nextCursor;
  }
  throw invalid("before", "invalid_cursor", `There is no ${JSON.stringify(id)} among the newest ${MAX_PAGES * PAGE} of this list.`);
}

async function toCursor(id: string, findCursor: FindCursor): Promise<string> {
  assertId("after", id);
  const cursor = await nullIfNotFound(findCursor(id));
  if (cursor === null) throw notListed("after");
  return cursor;
}

function assertId(name: string, id: string): void {
  if (!/^[a-z]+_[0-9a-z]{26}$/.test(id)) throw notListed(name);
}

function notListed(name: string): ApiError {
  return invalid(name, "invalid_cursor", `${name} must be the id of an item of this list.`);
}
