/** @jsxImportSource preact */
import type { Event, Page as Loaded } from "@mailsvc/sdk/contract";
import type { ComponentChildren } from "preact";
import type { RequestError } from "../api/request-error.ts";
import { type Column, DataTable } from "./data-table.tsx";
import { Empty } from "./empty.tsx";
import { type FilterField, Filters, readFilters } from "./filters.tsx";
import { ListStates } from "./list-states.tsx";
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
  /** Values besides the filters on which the list depends. */
  readonly inputs?: readonly unknown[];
  /** Events after which it is loaded again; `regularly` for what no event tells. */
  readonly live?: ((event: Event) => boolean) | "regularly";
  readonly settleMs?: number;
  /** Name of the table; the title without it. */
  readonly label?: string;
  readonly columns?: WithRefresh<readonly Column<Item>[]>;
  /** The entries, where they are no rows of a table. */
  readonly entries?: (items: readonly Item[], refresh: () => void) => ComponentChildren;
  /** Elements around entries that are no table. */
  readonly around?: (list: ComponentChildren) => ComponentChildren;
  /** Text of the button for more of these entries. */
  readonly more?: string;
  readonly href?: (item: Item) => string;
  readonly looked?: Looked;
  /** Words in place of entries: without any, and with filters that leave none. */
  readonly empty: string;
  readonly start?: ComponentChildren;
  readonly none?: string;
  /** A part in place of filters and list for an error that says why there is none; null for other errors. */
  readonly instead?: (error: RequestError) => ComponentChildren;
}

const LIMIT = 100;
const never = (): boolean => false;

/** A page with a list of the API: its head, filters, table or other entries, and what stands in place of them. */
export function ListPage<Item extends { readonly id: string }>(props: Props<Item>) {
  const { title, about, actions, children, filters = [], load, inputs = [], live = never, settleMs, columns = [], href, looked } = props;
  const { entries, around = scroll, more, empty, start, none = "Nothing fits these filters", instead } = props;
  const chosen = readFilters(filters.map(({ name }) => name));
  const list = useList(
    (cursor, signal) => load({ limit: LIMIT, ...chosen, ...(cursor && { cursor }) } as never, { signal }),
    [JSON.stringify(chosen), ...inputs],
  );
  useEvents(typeof live === "function" ? live : never, list.refresh, settleMs);
  const withoutEntries = Object.keys(chosen).length > 0 ? <Empty title={none} /> : <Empty title={empty}>{start}</Empty>;
  const replaced = list.error === null ? null : instead?.(list.error);
  return (
    <Page title={title} about={about} actions={typeof actions === "function" ? actions(list.refresh) : actions}>
      {live === "regularly" ? <Regularly react={list.refresh} /> : null}
      {children}
      {replaced ?? (
        <>
          {filters.length === 0 ? null : <Filters fields={filters} />}
          {entries ? (
            around(
              <ListStates list={list} empty={withoutEntries} {...(more && { more })}>
                {entries(list.items, list.refresh)}
              </ListStates>,
            )
          ) : (
            <DataTable
              label={props.label ?? title}
              {...{ list }}
              {...(href && { href })}
              {...(looked && { looked })}
              columns={typeof columns === "function" ? columns(list.refresh) : columns}
              empty={withoutEntries}
            />
          )}
        </>
      )}
    </Page>
  );
}

const scroll = (list: ComponentChildren) => <div class="scroll">{list}</div>;

function Regularly({ react }: { readonly react: () => void }) {
  useRegularly(react);
  return null;
}
