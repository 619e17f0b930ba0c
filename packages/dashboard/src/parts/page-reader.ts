import type { Page } from "@mailsvc/sdk/contract";

// A choice of more could not be looked through.
const MAX_PAGES = 20;

/** Reads a list page by page, up to 2,000 items: for choices, and for names by ids. */
export async function readAll<Item>(load: (page: { limit: number; cursor?: string }) => Promise<Page<Item>>): Promise<Item[]> {
  const all: Item[] = [];
  let cursor: string | undefined;
  for (let n = 0; n < MAX_PAGES; n += 1) {
    const { data, pagination } = await load({ limit: 100, ...(cursor !== undefined && { cursor }) });
    all.push(...data);
    if (pagination.nextCursor === null) break;
    cursor = pagination.nextCursor;
  }
  return all;
}
