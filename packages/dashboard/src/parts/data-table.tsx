/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Loading } from "./empty.tsx";
import { ErrorNote } from "./error-note.tsx";
import { formatShown } from "./plural.ts";
import type { PagedList } from "./resource.ts";
import { type Looked, SearchNote } from "./search-note.tsx";
import { VirtualRows } from "./virtual-rows.tsx";

/** The heights of rows of one line and of two in `style/table.css`, px. */
const ROW = 44;
const TWO_LINES = 62;

/** A column: what stands above it, its cells, and how wide it is, as in grid-template-columns. */
export interface Column<Item> {
  readonly head: string;
  readonly cell: (item: Item) => ComponentChildren;
  readonly width: string;
  /** Left out where the page is narrow. */
  readonly wide?: boolean;
  /** True to show the cell below the first column on narrow pages. */
  readonly second?: boolean;
}

interface Props<Item> {
  readonly label: string;
  readonly list: PagedList<Item>;
  readonly columns: readonly Column<Item>[];
  /** The page of an item; the first cell links to it, and the whole row can be clicked. Left out where items have no pages. */
  readonly href?: (item: Item) => string;
  readonly empty: ComponentChildren;
  /** Entries the server scans for each page of a search. */
  readonly looked?: Looked;
}

/** A list as a table that loads further pages while it is scrolled. */
export function DataTable<Item extends { readonly id: string }>({ label, list, columns, href, empty, looked }: Props<Item>) {
  const { items, total, loading, error, more, search } = list;
  const isNarrow = useMedia("(max-width: 960px)");
  if (error !== null && items.length === 0) return <ErrorNote title="The list could not be loaded" error={error} retry={list.refresh} />;
  if (items.length === 0) return <div class="table">{search ? <SearchNote {...{ search, looked }} /> : loading ? <Loading /> : empty}</div>;
  const twoLines = columns.some(({ second }) => second);
  const cells = (columnOf: (column: Column<Item>) => ComponentChildren, role: "cell" | "columnheader") =>
    columns.map((column) => (
      <div key={column.head} role={role} class={column.second ? "second" : column.wide ? "wide" : ""} style={{ flex: column.width }}>
        {columnOf(column)}
      </div>
    ));
  return (
    <div class={twoLines ? "table two-lines" : "table"}>
      <VirtualRows
        {...{ items, more, label, total: total === null ? null : total + 1 }}
        height={twoLines && isNarrow ? TWO_LINES : ROW}
        role="table"
        head={
          <div role="rowgroup" class="head">
            <div role="row" class="row" aria-rowindex={1}>
              {cells(({ head }) => head, "columnheader")}
            </div>
          </div>
        }
        row={(item, index) => (
          <div key={item.id} role="row" class="row" aria-rowindex={index + 2}>
            {cells(({ cell, head }) => (href && head === columns[0]?.head ? <a href={href(item)}>{cell(item)}</a> : cell(item)), "cell")}
          </div>
        )}
      />
      {search === null ? null : <SearchNote {...{ search, looked }} foot />}
      <p class="foot soft">
        {formatShown(list)}
        {error === null ? "" : ` · ${error.message}`}
      </p>
    </div>
  );
}

/** True while the window matches a media query; renders again when that changes. */
function useMedia(query: string): boolean {
  const [fits, setFits] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const look = (): void => setFits(list.matches);
    look();
    list.addEventListener("change", look);
    return () => list.removeEventListener("change", look);
  }, [query]);
  return fits;
}
