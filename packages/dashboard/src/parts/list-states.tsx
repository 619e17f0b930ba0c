/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Loading } from "./empty.tsx";
import { ErrorNote } from "./error-note.tsx";
import type { PagedList } from "./resource.ts";
import { SearchNote } from "./search-note.tsx";

interface Props<Item> {
  readonly list: PagedList<Item>;
  readonly empty: ComponentChildren;
  /** The text of the button that loads the next page. */
  readonly more?: string;
  /** The entries; shown where there are any. */
  readonly children: ComponentChildren;
}

/** A list that is no table: its entries, what stands in their place, and a button for further ones. */
export function ListStates<Item>({ list, empty, more = "Show more", children }: Props<Item>) {
  const { items, error, loading, search, hasMore, refresh } = list;
  const isEmpty = items.length === 0;
  return (
    <>
      {error === null ? null : <ErrorNote error={error} retry={refresh} />}
      {isEmpty && error === null ? search ? <SearchNote search={search} /> : loading ? <Loading /> : empty : null}
      {isEmpty ? null : children}
      {hasMore && !isEmpty ? (
        <div class="buttons after">
          <button type="button" onClick={list.more}>
            {more}
          </button>
        </div>
      ) : null}
    </>
  );
}
