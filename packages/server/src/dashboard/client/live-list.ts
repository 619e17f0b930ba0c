import type { Dom } from "./dom.ts";

export interface LiveListParts<Item> {
  /** Where the newest items come from. */
  readonly path: string;
  /** The ids of elements: the rows, the line that counts them, what is shown when none is open, and the search field. */
  readonly ids: { readonly rows: string; readonly count: string; readonly none: string; readonly search: string };
  readonly title: string;
  /** `email` or `event`. */
  readonly noun: string;
  /** What is searched. */
  text(item: Item): string;
  cells(item: Item): readonly HTMLElement[];
  /** What is said while there is no item, and while none is open. */
  empty(): readonly HTMLElement[];
  readonly choose: string;
  readonly view: {
    current(): string;
    open(item: Item): Promise<void>;
    reload(): Promise<void>;
    close(): void;
  };
}

/** A list of the newest items of a kind, loaded every two seconds while it is shown. */
export function liveList<Item extends { readonly id: string }>(
  { byId, element, button, call, handle, sleep }: Dom,
  { path, ids, title, noun, text, cells, empty, choose, view }: LiveListParts<Item>,
) {
  const POLL_MS = 2000;
  // As many as the server sends.
  const MOST = 200;
  let all: Item[] = [];
  let known = "";
  let query = "";
  let shown = false;

  const find = (): Item[] => all.filter((item) => text(item).toLowerCase().includes(query.toLowerCase()));

  const draw = (): void => {
    const found = find();
    byId(ids.rows).replaceChildren(
      ...found.map((item) => {
        const row = button(
          "",
          handle(() => view.open(item)),
          ...cells(item),
        );
        if (item.id === view.current()) row.setAttribute("aria-current", "true");
        return element("li", "", row);
      }),
    );
    const total = all.length === 1 ? `1 ${noun}` : `${all.length}${all.length >= MOST ? " newest" : ""} ${noun}s`;
    byId(ids.count).textContent = query ? `${found.length} found in ${all.length}` : total;
    if (shown) document.title = title;
    byId(ids.none).replaceChildren(...(all.length > 0 ? [element("p", "", found.length === 0 ? "Nothing matches." : choose)] : empty()));
  };

  const refresh = async (): Promise<void> => {
    const { data } = await call<{ data: Item[] }>("GET", path);
    const received = JSON.stringify(data);
    const changed = received !== known;
    known = received;
    all = data;
    draw();
    if (!changed || view.current() === "") return;
    if (all.some(({ id }) => id === view.current())) await view.reload();
    else view.close();
  };
  return {
    draw,
    refresh,
    watch: (on: boolean): void => {
      shown = on;
    },
    /** Opens the item `by` rows further down. */
    move: (by: number): void => {
      const found = find();
      const from = found.findIndex(({ id }) => id === view.current());
      const to = found[from < 0 ? 0 : Math.min(Math.max(from + by, 0), found.length - 1)];
      if (to && to.id !== view.current()) handle(() => view.open(to))();
    },
    start: (): void => {
      const search = byId<HTMLInputElement>(ids.search);
      search.oninput = () => {
        query = search.value.trim();
        draw();
      };
      const poll = async (): Promise<void> => {
        for (;;) {
          if (shown && !document.hidden) await refresh().catch(() => {});
          await sleep(POLL_MS);
        }
      };
      void poll();
    },
  };
}
export type LiveList = typeof liveList;
