import type { Page } from "@mailsvc/sdk/contract";
import { useEffect, useReducer, useRef } from "preact/hooks";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { after } from "../browser.ts";
import { useRecovery } from "./resource.ts";

/** Items of a page of the API. */
export const PAGE_SIZE = 100;

// Debounce while scrolling: loads pages that stay visible this long.
const REST_MS = 60;

// Pages kept in memory: those near the place that was looked at last.
const MAX_KEPT = 60;

type Load<Item> = (page: number, signal: AbortSignal) => Promise<Page<Item>>;

/**
 * A long list of which the pages in sight are loaded, in any order. When its length turns out to have changed, all pages are loaded
 * again, because items have moved from one page to another: no item is shown twice or in another's place.
 */
export class PageWindow<Item> {
  readonly #load: Load<Item>;
  readonly #changed: () => void;
  #pages = new Map<number, readonly Item[]>();
  readonly #loading = new Map<number, AbortController>();
  #renewal: AbortController | null = null;
  #renewAgain = false;
  #range: readonly [first: number, end: number] = [0, PAGE_SIZE];
  #cancel: (() => void) | null = null;
  #counted: number | null = null;
  /** The list has more items than were counted. */
  isMinimum = false;
  /** Error of the last request; null when it succeeded. */
  error: RequestError | null = null;

  constructor(load: Load<Item>, changed: () => void) {
    this.#load = load;
    this.#changed = changed;
  }

  /** Number of items; null until known. For a list that is not counted to its end, one page more than the known items. */
  get length(): number | null {
    return this.#counted === null || !this.isMinimum ? this.#counted : this.#counted + PAGE_SIZE;
  }

  /** Number of items counted so far. */
  get counted(): number | null {
    return this.#counted;
  }

  /** The item in a place, from 0; undefined until it is loaded. */
  at(index: number): Item | undefined {
    return this.#pages.get(toPage(index))?.[index % PAGE_SIZE];
  }

  /** The items that are loaded. */
  *loaded(): Generator<Item> {
    for (const page of this.#pages.values()) yield* page;
  }

  /** Says which places are in sight: what is missing there is loaded, and what is on its way for other places is given up. */
  see(first: number, end: number): void {
    this.#range = [first, Math.max(end, first + 1)];
    const wanted = this.#wanted();
    for (const [page, over] of this.#loading)
      if (!wanted.includes(page)) {
        over.abort();
        this.#loading.delete(page);
      }
    this.#cancel?.();
    this.#cancel = null;
    if (this.#missing().length === 0) return;
    if (this.#counted === null) this.#loadMissing();
    else this.#cancel = after(REST_MS, () => this.#loadMissing());
  }

  /** Loads what is in sight again, and shows it once all of it is there. */
  refresh(): void {
    if (this.#renewal !== null) this.#renewAgain = true;
    else void this.#renew();
  }

  close(): void {
    this.#cancel?.();
    this.#renewal?.abort();
    for (const over of this.#loading.values()) over.abort();
    this.#loading.clear();
  }

  #wanted(): number[] {
    const [first, end] = this.#range;
    const pages: number[] = [];
    for (let page = toPage(first); page <= toPage(end - 1); page += 1) pages.push(page);
    return pages;
  }

  #missing(): number[] {
    return this.#wanted().filter((page) => !this.#pages.has(page) && !this.#loading.has(page));
  }

  #loadMissing(): void {
    if (this.#renewal !== null) return;
    for (const page of this.#missing()) void this.#loadPage(page);
  }

  async #loadPage(page: number): Promise<void> {
    const over = new AbortController();
    this.#loading.set(page, over);
    try {
      const loaded = await this.#load(page, over.signal);
      if (over.signal.aborted) return;
      this.#loading.delete(page);
      const before = this.#counted;
      this.#count(page, loaded);
      if (before !== null && before !== this.#counted && !this.isMinimum) this.refresh();
      else this.#keep(page, loaded.data);
      this.error = null;
    } catch (cause) {
      if (over.signal.aborted) return;
      this.#loading.delete(page);
      this.#fail(cause);
    }
    this.#changed();
  }

  async #renew(): Promise<void> {
    for (const over of this.#loading.values()) over.abort();
    this.#loading.clear();
    const over = new AbortController();
    this.#renewal = over;
    try {
      const pages = this.#wanted();
      const loaded = await Promise.all(pages.map((page) => this.#load(page, over.signal)));
      if (over.signal.aborted) return;
      this.#pages = new Map(pages.map((page, i) => [page, loaded[i]?.data ?? []]));
      this.#counted = null;
      for (const [i, page] of pages.entries()) if (loaded[i]) this.#count(page, loaded[i]);
      const totals = new Set(loaded.map(({ pagination }) => pagination.total));
      if (totals.size > 1 && !this.isMinimum) this.#renewAgain = true;
      this.error = null;
    } catch (cause) {
      if (over.signal.aborted) return;
      this.#fail(cause);
    }
    this.#renewal = null;
    this.#changed();
    if (this.#renewAgain) {
      this.#renewAgain = false;
      void this.#renew();
    } else this.#loadMissing();
  }

  #count(page: number, { data, pagination }: Page<Item>): void {
    const reached = (page - 1) * PAGE_SIZE + data.length;
    this.isMinimum = pagination.totalIsMinimum === true && pagination.hasMore;
    const known = pagination.totalIsMinimum === true && this.#counted !== null ? Math.max(this.#counted, reached) : pagination.total;
    // The last page of a list that was not counted to its end says how long it is.
    this.#counted = pagination.totalIsMinimum === true && !pagination.hasMore && data.length > 0 ? reached : Math.max(known, reached);
  }

  #keep(page: number, items: readonly Item[]): void {
    this.#pages.set(page, items);
    const here = toPage(this.#range[0]);
    while (this.#pages.size > MAX_KEPT) {
      const farthest = [...this.#pages.keys()].reduce((far, one) => (Math.abs(one - here) > Math.abs(far - here) ? one : far));
      this.#pages.delete(farthest);
    }
  }

  #fail(cause: unknown): void {
    this.error = asRequestError(cause);
  }
}

function toPage(index: number): number {
  return Math.floor(index / PAGE_SIZE) + 1;
}

/** A long list of which any part can be looked at at once; a new one when one of `inputs` changes. */
export function usePageWindow<Item>(load: Load<Item>, inputs: readonly unknown[]): PageWindow<Item> {
  const [, render] = useReducer((n: number) => n + 1, 0);
  const key = JSON.stringify(inputs);
  const current = useRef<{ key: string; list: PageWindow<Item> } | null>(null);
  if (current.current?.key !== key) {
    current.current?.list.close();
    current.current = { key, list: new PageWindow(load, () => render(undefined)) };
  }
  const { list } = current.current;
  useEffect(() => {
    list.see(0, 1);
  }, [list]);
  useEffect(() => () => current.current?.list.close(), []);
  useRecovery(list.error, () => list.refresh());
  return list;
}
