import type { Event, Page, Pagination } from "@mailsvc/sdk/contract";
import { createContext } from "preact";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";
import type { LiveEvents } from "../api/live.ts";
import { returns } from "../api/outage.ts";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { after } from "../browser.ts";

/** Something that is loaded from the API. */
export interface Resource<T> {
  readonly data: T | null;
  readonly error: RequestError | null;
  /** Loads it again; what is shown stays until then. */
  readonly reload: () => void;
}

/** The events of the workspace, as they happen; null before anybody has signed in. */
export const Live = createContext<LiveEvents | null>(null);

// Many events in a row, such as those of a campaign, cause one reload.
const SETTLE_MS = 150;

// A server that is started again answers after a second or two.
const RECOVERY_MS = 3000;

// Statuses of faults that pass: no answer (0), too many requests, and a server, its database or its proxy that is unavailable.
const PASSING: ReadonlySet<number> = new Set([0, 429, 502, 503, 504]);

// Interval between updates driven by thousands of events a second, so that numbers stay legible and the page idle.
export const NUMBERS_MS = 1000;

/** Loads something, and again when one of `inputs` changes. */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Resource<T> {
  const [state, setState] = useState<{ data: T | null; error: RequestError | null }>({ data: null, error: null });
  const [again, setAgain] = useState(0);
  useEffect(() => {
    const over = new AbortController();
    load(over.signal).then(
      (data) => over.signal.aborted || setState({ data, error: null }),
      (cause: unknown) => {
        if (over.signal.aborted) return;
        setState((before) => ({ ...before, error: asRequestError(cause) }));
      },
    );
    return () => over.abort();
  }, [...inputs, again]);
  const reload = useCallback(() => setAgain((n) => n + 1), []);
  useRecovery(state.error, reload);
  return { ...state, reload };
}

/** Calls `retry` after a while when something could not be loaded for a reason that passes, and at once when the server is back. */
export function useRecovery(error: RequestError | null, retry: () => void): void {
  const passes = error !== null && PASSING.has(error.status);
  useEffect(() => (passes ? after(RECOVERY_MS, retry) : undefined), [error]);
  useServerReturn(() => {
    if (passes) retry();
  });
}

/** Calls `react` when the server answers again after an outage. */
export function useServerReturn(react: () => void): void {
  const current = useRef(react);
  current.current = react;
  useEffect(() => {
    const before = returns.peek();
    return returns.subscribe((now) => {
      if (now > before) current.current();
    });
  }, []);
}

/** Calls `react` after events that fit, at most every `settleMs`. */
export function useEvents(fits: (event: Event) => boolean, react: () => void, settleMs = SETTLE_MS): void {
  const live = useContext(Live);
  const current = useRef({ fits, react });
  current.current = { fits, react };
  useEffect(() => {
    let cancel: (() => void) | null = null;
    const stop = live?.listen((event) => {
      if (cancel !== null || !current.current.fits(event)) return;
      cancel = after(settleMs, () => {
        cancel = null;
        current.current.react();
      });
    });
    return () => {
      cancel?.();
      stop?.();
    };
  }, [live, settleMs]);
}

// Short enough to be called live, and one small request each time.
const REGULARLY_MS = 3000;

/** Calls `react` every three seconds, or every `ms`, while the page is in sight: for what no event tells of, such as the work of agents. */
export function useRegularly(react: () => void, ms = REGULARLY_MS): void {
  const current = useRef(react);
  current.current = react;
  useEffect(() => {
    let cancel = (): void => {};
    const wait = (): void => {
      cancel = after(ms, () => {
        if (document.visibilityState === "visible") current.current();
        wait();
      });
    };
    wait();
    return () => cancel();
  }, []);
}

/** A list that is loaded page by page. */
export interface PagedList<Item> {
  readonly items: readonly Item[];
  /** Number of entries; null until known. */
  readonly total: number | null;
  /** There are more than `total`, which was not counted further. */
  readonly isMinimum: boolean;
  readonly loading: boolean;
  readonly error: RequestError | null;
  /** Further entries may follow: only without them is an empty list really empty. */
  readonly hasMore: boolean;
  /** The search that goes on by itself because pages come back empty before the end; null unless there is one. */
  readonly search: Search | null;
  /** Loads the next page, unless that is under way or all are there. */
  readonly more: () => void;
  /** Loads the beginning again and keeps the rest; after the page that is under way, if one is. */
  readonly refresh: () => void;
}

/** A search through a list whose pages may be empty although entries follow: the server looks at a part of it for each page. */
export interface Search {
  /** Pages that were looked at. */
  readonly pages: number;
  readonly stopped: boolean;
  readonly stop: () => void;
  /** Goes on after a stop. */
  readonly resume: () => void;
}

interface ListState<Item> {
  readonly items: readonly Item[];
  readonly pagination: Pagination | null;
  readonly loading: boolean;
  readonly error: RequestError | null;
  /** Pages that were read one after the other, and whether one of them was empty before the end. */
  readonly pages: number;
  readonly searches: boolean;
  readonly stopped: boolean;
}

/**
 * Loads a list, newest first, and again from its start when one of `inputs` changes. A page that is empty before the end of the list is
 * followed by the next one at once, until something is found, the list ends, or the person stops it.
 */
export function useList<Item extends { readonly id: string }>(
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Item>>,
  inputs: readonly unknown[],
): PagedList<Item> {
  const [state, setState] = useState<ListState<Item>>(UNREAD);
  // Newest state, even before it is rendered: the next page continues from it.
  const latest = useRef(state);
  const update = (change: Partial<ListState<Item>>): void => {
    latest.current = { ...latest.current, ...change };
    setState(latest.current);
  };
  const over = useRef(new AbortController());
  const busy = useRef(false);
  // Something happened while a page was read, which that may not show yet.
  const outdated = useRef(false);
  const run = async (read: (signal: AbortSignal) => Promise<Partial<ListState<Item>>>): Promise<void> => {
    const { signal } = over.current;
    busy.current = true;
    outdated.current = false;
    try {
      const change = await read(signal);
      if (!signal.aborted) update({ ...change, loading: false, error: null });
    } catch (cause) {
      if (!signal.aborted) update({ loading: false, error: asRequestError(cause) });
    }
    if (signal.aborted) return;
    busy.current = false;
    if (outdated.current) refresh();
    else if (latest.current.error === null) follow();
  };
  /** Reads the next page after one that was empty. */
  const follow = (): void => {
    const { pagination, searches, stopped } = latest.current;
    if (searches && !stopped && pagination?.nextCursor) more();
  };
  useEffect(() => {
    over.current = new AbortController();
    update({ loading: true, searches: false, stopped: false });
    void run(async (signal) => {
      const { data, pagination } = await load(undefined, signal);
      return { items: data, pagination, pages: 1, searches: isEmptyBeforeEnd(data, pagination) };
    });
    return () => over.current.abort();
  }, inputs);
  const { items, pagination, loading, error, pages, searches, stopped } = state;
  const more = (): void => {
    const { pagination, stopped } = latest.current;
    const cursor = pagination?.nextCursor;
    if (!cursor || busy.current || stopped) return;
    void run(async (signal) => {
      const { data, pagination } = await load(cursor, signal);
      const { items, pages } = latest.current;
      return { items: [...items, ...data], pagination, pages: pages + 1, searches: isEmptyBeforeEnd(data, pagination) };
    });
  };
  const halt = (stopped: boolean): void => {
    update({ stopped });
    if (!stopped) more();
  };
  const refresh = (): void => {
    if (busy.current) outdated.current = true;
    else void run(async (signal) => renew(latest.current, await readFresh(load, latest.current.items, signal)));
  };
  useRecovery(error, refresh);
  return {
    items,
    total: pagination?.total ?? null,
    isMinimum: pagination?.totalIsMinimum ?? false,
    loading,
    error,
    hasMore: pagination?.nextCursor != null,
    search: (searches || stopped) && pagination?.nextCursor ? { pages, stopped, stop: () => halt(true), resume: () => halt(false) } : null,
    more,
    refresh,
  };
}

const UNREAD = { items: [], pagination: null, loading: true, error: null, pages: 0, searches: false, stopped: false } as const;

function isEmptyBeforeEnd(data: readonly unknown[], { nextCursor }: Pagination): boolean {
  return data.length === 0 && nextCursor !== null;
}

/**
 * Reads a list from its start until that meets what is shown, but no more than is shown. A page that is not full although more follow ends
 * it, too: the server has looked at many entries for it.
 */
async function readFresh<Item extends { readonly id: string }>(
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Item>>,
  shown: readonly Item[],
  signal: AbortSignal,
): Promise<Fresh<Item>> {
  let page = await load(undefined, signal);
  let data = page.data;
  const isFull = (): boolean => page.data.length >= page.pagination.limit;
  while (data.length < shown.length && page.pagination.nextCursor !== null && isFull() && !meets(data, shown)) {
    page = await load(page.pagination.nextCursor, signal);
    data = [...data, ...page.data];
  }
  return { data, pagination: page.pagination, isFull: isFull() };
}

/** A fresh beginning of a list; `isFull` if its last page was. */
interface Fresh<Item> extends Page<Item> {
  readonly isFull: boolean;
}

/** True if a fresh first page, newest first, reaches the shown entries without a gap. */
function meets<Item extends { readonly id: string }>(fresh: readonly Item[], shown: readonly Item[]): boolean {
  const oldest = fresh.at(-1)?.id;
  const newest = shown[0]?.id;
  return oldest !== undefined && newest !== undefined && newest >= oldest;
}

/** Replaces the beginning of a list by a fresh one, without the entries that were deleted meanwhile. Entries after a gap are dropped. */
function renew<Item extends { readonly id: string }>(before: ListState<Item>, fresh: Fresh<Item>): Partial<ListState<Item>> {
  const { items } = before;
  const { data, pagination, isFull } = fresh;
  // An empty beginning tells of nothing below it.
  if (isEmptyBeforeEnd(data, pagination)) return {};
  const oldest = data.at(-1)?.id;
  const isWhole = oldest === undefined || pagination.nextCursor === null;
  const older = isWhole || (isFull && !meets(data, items)) ? [] : items.filter(({ id }) => id < oldest);
  // A search has come further than the fresh beginning, also where it has found nothing.
  const goesOn = !isWhole && (older.length > 0 || (!isFull && before.pages > 1));
  const nextCursor = goesOn ? (before.pagination?.nextCursor ?? null) : pagination.nextCursor;
  return { items: [...data, ...older], pagination: { ...pagination, nextCursor } };
}
