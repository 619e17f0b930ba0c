import type { Contact, ContactStatus, Page } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { showContact } from "./contacts.ts";
import { ALL, BLOCK, type CountScope, countContacts, findOffset } from "./counters.ts";
import { readContactCursor, toContactCursor } from "./cursor.ts";
import type { ContactDeps } from "./deps.ts";
import type { ContactSelection } from "./hooks.ts";
import { tagKey, toSearchTerm } from "./normalize.ts";
import { type SearchResult, searchContacts, TOP } from "./search.ts";
import { type ContactSlice, readSlice } from "./slices.ts";

interface ContactQuery {
  page: number;
  limit: number;
  cursor?: string | undefined;
  search?: string | undefined;
  status?: ContactStatus | undefined;
  tag?: string | undefined;
  list?: string | undefined;
  segment?: string | undefined;
}

/**
 * A page of contacts, newest first. Reads one row more than asked for, to know whether there are more. Throws ApiError validation_error.
 */
export async function listContacts(
  read: Reader,
  { contactHooks }: Pick<ContactDeps, "contactHooks">,
  workspaceId: string,
  input: ContactQuery,
): Promise<Page<Contact>> {
  const { page, limit, cursor, status } = input;
  const scope: CountScope = { workspaceId, tagKey: input.tag === undefined ? ALL : tagKey(input.tag), status };
  const text = toSearchTerm(input.search);
  const slice: ContactSlice =
    cursor === undefined
      ? { before: TOP, skip: (page - 1) * limit, limit: limit + 1 }
      : { before: readContactCursor(cursor), skip: 0, limit: limit + 1 };
  const { rows, total, exact } =
    input.list === undefined && input.segment === undefined
      ? await listInScope(read, scope, text, slice)
      : await contactHooks.listSelected(read, workspaceId, toSelection(input, text), slice);
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
      nextCursor: hasMore && last ? toContactCursor(last.seq) : null,
      ...(!exact && { totalIsMinimum: true as const }),
    },
  };
}

async function listInScope(read: Reader, scope: CountScope, text: string, slice: ContactSlice): Promise<SearchResult> {
  const size = await countContacts(read, scope);
  return text === "" ? listAll(read, scope, slice, size) : searchContacts(read, scope, text, slice, size);
}

function toSelection({ list, segment, status, tag }: ContactQuery, text: string): ContactSelection {
  return { list, segment, status, tag, text };
}

/** A slice without a search. A deep one starts at the block it begins in, so that page 50,000 costs as much as page 5. */
async function listAll(read: Reader, scope: CountScope, slice: ContactSlice, total: number): Promise<SearchResult> {
  const counted = { total, exact: true };
  if (slice.skip >= total && slice.before === TOP) return { rows: [], ...counted };
  if (slice.skip <= BLOCK / 8) return { rows: await readSlice(read, scope, slice), ...counted };
  const start = await findOffset(read, scope, slice.skip);
  return { rows: start ? await readSlice(read, scope, { ...slice, ...start }) : [], ...counted };
}
