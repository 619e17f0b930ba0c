import { APIPromise, type ApiResponse } from "./api-promise.ts";
import { MailsvcError, UsageError } from "./errors.ts";
import type { Page } from "./types.generated.ts";

/** A page of a list, with methods to fetch the next one. The methods are not enumerable: logs and JSON show the data only. */
export type ListPage<T> = Page<T> & {
  hasNextPage(): boolean;
  /** Fetches the next page; null after the last one. */
  getNextPage(): Promise<ListPage<T> | null>;
};

/**
 * The promise of a list call. Await it for one page, or iterate over all items:
 * `for await (const email of client.emails.list({status: "bounced"}))`. Pages are fetched one by one, as they are needed.
 */
export class PagePromise<T> extends APIPromise<ListPage<T>> implements AsyncIterable<T> {
  constructor(first: Promise<ApiResponse<Page<T>>>, next: (cursor: string) => Promise<ApiResponse<Page<T>>>) {
    super(withNextPage(first, next));
  }

  /** Iterates over pages, starting with the one this promise resolves to. */
  async *pages(): AsyncGenerator<ListPage<T>, void, undefined> {
    const seen = new Set<string>();
    for (let page: ListPage<T> | null = await this; page !== null; page = await page.getNextPage()) {
      yield page;
      const cursor = page.pagination.nextCursor;
      if (!cursor) return;
      // Without this check, a server that repeats a cursor would loop for ever.
      if (seen.has(cursor)) throw new MailsvcError({ message: `The server returned the same cursor twice, after ${seen.size} pages.` });
      seen.add(cursor);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** Collects all items, or the first `max`; fetches no more pages than needed. */
  async toArray(options: { readonly max?: number } = {}): Promise<T[]> {
    const max = options.max ?? Number.POSITIVE_INFINITY;
    if (Number.isNaN(max) || max < 0) throw new UsageError({ message: "max must be a number, 0 or more." });
    const items: T[] = [];
    for await (const page of this.pages()) {
      for (const item of page.data) if (items.length < max) items.push(item);
      if (items.length >= max) break;
    }
    return items;
  }
}

/** Adds the methods of a ListPage to the data of a response. */
async function withNextPage<T>(
  response: Promise<ApiResponse<Page<T>>>,
  next: (cursor: string) => Promise<ApiResponse<Page<T>>>,
): Promise<ApiResponse<ListPage<T>>> {
  const loaded = await response;
  const page = loaded.data;
  Object.defineProperties(page, {
    hasNextPage: { value: () => Boolean(page.pagination.nextCursor) },
    getNextPage: {
      value: async () => {
        const cursor = page.pagination.nextCursor;
        return cursor ? (await withNextPage(next(cursor), next)).data : null;
      },
    },
  });
  return loaded as ApiResponse<ListPage<T>>;
}
