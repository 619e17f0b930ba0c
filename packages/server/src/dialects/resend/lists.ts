import type { Page } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { toIdCursor } from "../../db/pagination.ts";
import { invalid } from "../../lib/api-error.ts";

/** How a list is paged: after an id, or before one, towards newer ones. */
export const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.string().max(100).optional(),
  before: z.string().max(100).optional(),
});
type ListInput = z.output<typeof listQuery>;

/** The paging fields of a call of the contract. */
interface PageCall {
  limit: number;
  cursor?: string;
}

// The largest page of the contract.
const PAGE = 100;
// Pages of the contract go towards older ones only, so what is newer than an id is looked for from the start, this far.
const MAX_PAGES = 20;

/** A list as Resend answers it, newest first. Throws ApiError validation_error for an id that is not in the list. */
export async function answerList<Item extends { readonly id: string }>(
  { limit, after, before }: ListInput,
  load: (page: PageCall) => Promise<Page<Item>>,
  show: (item: Item) => object,
): Promise<object> {
  if (after !== undefined && before !== undefined) throw invalid("after", "unexpected", "Give either after or before.");
  if (before !== undefined) return answerBefore(before, limit, load, show);
  const { items, hasMore } = await fillPage(limit, after === undefined ? undefined : toCursor("after", after), load);
  return { object: "list", has_more: hasMore, data: items.map(show) };
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
  toCursor("before", id);
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

function toCursor(name: string, id: string): string {
  if (/^[a-z]+_[0-9a-z]{26}$/.test(id)) return toIdCursor(id);
  throw invalid(name, "invalid_cursor", `${name} must be the id of an item of this list.`);
}
