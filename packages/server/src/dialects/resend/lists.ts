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
  const { data, pagination } = await load({ limit, ...(after !== undefined && { cursor: toCursor("after", after) }) });
  return { object: "list", has_more: pagination.hasMore, data: data.map(show) };
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
    const { data, pagination } = await load({ limit: 100, ...(cursor !== undefined && { cursor }) });
    const at = data.findIndex((item) => item.id === id);
    newer.push(...(at < 0 ? data : data.slice(0, at)));
    if (at >= 0) return { object: "list", has_more: newer.length > limit, data: newer.slice(-limit).map(show) };
    if (pagination.nextCursor === null) break;
    cursor = pagination.nextCursor;
  }
  throw invalid("before", "invalid_cursor", `There is no ${JSON.stringify(id)} among the newest ${MAX_PAGES * 100} of this list.`);
}

function toCursor(name: string, id: string): string {
  if (/^[a-z]+_[0-9a-z]{26}$/.test(id)) return toIdCursor(id);
  throw invalid(name, "invalid_cursor", `${name} must be the id of an item of this list.`);
}
