/** @jsxImportSource preact */
import type { Event, Page as Loaded } from "@mailsvc/sdk/contract";
import type { ComponentChildren } from "preact";
import { type Column, DataTable } from "./data-table.tsx";
import { Empty } from "./empty.tsx";
import { type FilterField, Filters, readFilters } from "./filters.tsx";
import { Page } from "./page.tsx";
import { useEvents, useList, useRegularly } from "./resource.ts";
import type { Looked } from "./search-note.tsx";

/** Something that may need to load the list again, such as a button that adds an entry. */
type WithRefresh<T> = T | ((refresh: () => void) => T);

interface Props<Item> {
  readonly title: string;
  /** One sentence on what it is for. */
  readonly about: ComponentChildren;
  readonly actions?: WithRefresh<ComponentChildren>;
  /** Notes above the list. */
  readonly children?: ComponentChildren;
  readonly filters?: readonly FilterField[];
  /** Loads a page: an operation of the API, which gets the filters, the limit and the cursor. */
  readonly load: (query: never, options: { readonly signal: AbortSignal }) => Promise<Loaded<Item>>;
  /** Events after which it is loaded again; `regularly` for what no event tells. */
  readonly live?: ((event: Event) => boolean) | "regularly";
  readonly settleMs?: number;
  /** Name of the table; the title without it. */
  readonly label?: string;
  readonly columns: WithRefresh<readonly Column<Item>[]>;
  readonly href?: (item: Item) => string;
  readonly looked?: Looked;
  /** Words in place of entries: without any, and with filters that leave none. */
  readonly empty: string;
  readonly start?: ComponentChildren;
  readonly none?: string;
}

const LIMIT = 100;
const never = (): boolean => false;

/** A page with a list of the API: its head, filters, table, and what stands in place of entries. */
export function ListPage<Item extends { readonly id: string }>(props: Props<Item>) {
  const { title, about, actions, children, filters = [], load, live = never, settleMs, columns, href, looked, empty, start } = props;
  const chosen = readFilters(filters.map(({ name }) => name));
  const list = useList(
    (cursor, signal) => load({ ...chosen, limit: LIMIT, ...(cursor && { cursor }) } as never, { signal }),
    [JSON.stringify(chosen)],
  );
  useEvents(typeof live === "function" ? live : never, list.refresh, settleMs);
  const isFiltered = Object.keys(chosen).length > 0;
  return (
    <Page title={title} about={about} actions={typeof actions === "function" ? actions(list.refresh) : actions}>
      {live === "regularly" ? <Regularly react={list.refresh} /> : null}
      {children}
      {filters.length === 0 ? null : <Filters fields={filters} />}
      <DataTable
        label={props.label ?? title}
        {...{ list }}
        {...(href && { href })}
        {...(looked && { looked })}
        columns={typeof columns === "function" ? columns(list.refresh) : columns}
        empty={isFiltered ? <Empty title={props.none ?? "Nothing fits these filters"} /> : <Empty title={empty}>{start}</Empty>}
      />
    </Page>
  );
}

function Regularly({ react }: { readonly react: () => void }) {
  useRegularly(react);
  return null;
}
