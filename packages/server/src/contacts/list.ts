import type { Contact, ContactStatus, Page } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { invalid } from "../lib/api-error.ts";
import { fold } from "../lib/fold.ts";
import { showContact } from "./contacts.ts";
import { countOf, placeOf, type Scope } from "./counted.ts";
import { ALL, BLOCK, tagKey } from "./counts.ts";
import { type Slice, sliceOf } from "./rows.ts";
import { type SearchResult, searchContacts, TOP } from "./search.ts";

export interface ContactQuery {
  page: number;
  limit: number;
  cursor?: string | undefined;
  search?: string | undefined;
  status?: ContactStatus | undefined;
  tag?: string | undefined;
}

/** A page of contacts, newest first (SPEC 4). One more than asked for tells whether there are more. Throws ApiError validation_error. */
export async function listContacts(read: Reader, workspaceId: string, input: ContactQuery): Promise<Page<Contact>> {
  const { page, limit, cursor, status } = input;
  const scope: Scope = { workspaceId, tagKey: input.tag === undefined ? ALL : tagKey(input.tag), status };
  const part = fold(input.search?.trim() ?? "");
  const slice: Slice =
    cursor === undefined
      ? { before: TOP, skip: (page - 1) * limit, limit: limit + 1 }
      : { before: decode(cursor), skip: 0, limit: limit + 1 };
  const size = await countOf(read, scope);
  const { rows, total, exact } = part === "" ? await plain(read, scope, slice, size) : await searchContacts(read, scope, part, slice, size);
  const hasMore = rows.length > limit;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    data: shown.map(showContact),
    pagination: {
      page,
      limit,
      total,
      totalPages: Math.ceil(total / limit),
      hasMore,
      nextCursor: hasMore && last ? encode(last.seq) : null,
      ...(!exact && { totalIsMinimum: true as const }),
    },
  };
}

function encode(seq: number): string {
  return Buffer.from(`contact:${seq}`).toString("base64url");
}

function decode(cursor: string): number {
  const [, seq] = /^contact:(\d{1,15})$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (seq === undefined)
    throw invalid("cursor", "invalid_cursor", "This is no cursor of this list. Take pagination.nextCursor of the page before.");
  return Number(seq);
}

/** A slice without a search. A deep one begins at the block it lies in, so that page 50,000 costs what page 5 does. */
async function plain(read: Reader, scope: Scope, slice: Slice, total: number): Promise<SearchResult> {
  const found = { total, exact: true };
  if (slice.skip >= total && slice.before === TOP) return { rows: [], ...found };
  if (slice.skip <= BLOCK / 8) return { rows: await sliceOf(read, scope, slice), ...found };
  const place = await placeOf(read, scope, slice.skip);
  return { rows: place ? await sliceOf(read, scope, { ...slice, ...place }) : [], ...found };
}
