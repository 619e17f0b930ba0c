import { APIPromise, type ApiResponse } from "./api-promise.ts";
import type { Page } from "./contract/index.ts";
import { MailsvcError, UsageError } from "./errors.ts";

/**
 * The promise of a list call. Await it for one page, or iterate over all items:
 * `for await (const email of client.emails.list({status: "bounced"}))`. Pages are fetched one by one, as they are needed.
 */
export class PagePromise<T> extends APIPromise<Page<T>> implements AsyncIterable<T> {
  readonly #next: (cursor: string) => Promise<ApiResponse<Page<T>>>;

  constructor(first: Promise<ApiResponse<Page<T>>>, next: (cursor: string) => Promise<ApiResponse<Page<T>>>) {
    super(first);
    this.#next = next;
  }

  /** Iterates over pages, starting with the one this promise resolves to. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    const seen = new Set<string>();
    for (let response = await this.withResponse(); ; ) {
      yield response.data;
      const cursor = response.data.pagination.nextCursor;
      if (!cursor) return;
      // Without this check, a server that repeats a cursor would loop for ever.
      if (seen.has(cursor)) throw new MailsvcError({ message: `The server returned the same cursor twice, after ${seen.size} pages.` });
      seen.add(cursor);
      response = await this.#next(cursor);
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
