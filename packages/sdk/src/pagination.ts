import { APIPromise, type ApiResponse } from "./api-promise.ts";
import type { Page } from "./contract/index.ts";
import { MailsvcError, UsageError } from "./errors.ts";

/**
 * The promise of a list. Await it for one page, or walk over all of them from there:
 * `for await (const email of client.emails.list({status: "bounced"}))`. Pages are asked for one by one, as they are needed.
 */
export class PagePromise<T> extends APIPromise<Page<T>> implements AsyncIterable<T> {
  readonly #next: (cursor: string) => Promise<ApiResponse<Page<T>>>;

  constructor(first: Promise<ApiResponse<Page<T>>>, next: (cursor: string) => Promise<ApiResponse<Page<T>>>) {
    super(first);
    this.#next = next;
  }

  /** Page after page, the first one being the page this promise stands for. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    const seen = new Set<string>();
    for (let answer = await this.withResponse(); ; ) {
      yield answer.data;
      const cursor = answer.data.pagination.nextCursor;
      if (!cursor) return;
      // A server that sends us round in circles would otherwise keep the caller busy for ever.
      if (seen.has(cursor))
        throw new MailsvcError({ message: `The list came back to a cursor it had already given, after ${seen.size} pages.` });
      seen.add(cursor);
      answer = await this.#next(cursor);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** All items, or the first `max`; no page is asked for beyond those needed. */
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
