/** @jsxImportSource preact */
import { formatCount } from "./plural.ts";
import type { Search } from "./resource.ts";

/** Number of entries the server scans for a page of a search, and the word for them. */
export interface Looked {
  readonly each: number;
  readonly what: string;
}

interface Props {
  readonly search: Search;
  readonly looked?: Looked | undefined;
  /** True if it stands below the results. */
  readonly foot?: boolean;
}

/** Progress of a search that continues by itself, with a button to stop it. */
export function SearchNote({ search: { pages, stopped, stop, resume }, looked, foot = false }: Props) {
  const seen = looked ? `the newest ${formatCount(pages * looked.each)} ${looked.what}` : "the newest entries";
  const words = stopped ? `Stopped after ${seen}. Older ones were not looked at.` : `Looked at ${seen}, searching…`;
  return (
    <div class={foot ? "search-note foot" : "search-note empty"}>
      {/* Said once, not with each page. */}
      <span class="hidden" role="status">
        {stopped ? words : "Searching"}
      </span>
      <p aria-hidden={stopped ? "true" : undefined}>{foot || stopped ? words : `Nothing yet. ${words}`}</p>
      <button type="button" onClick={stopped ? resume : stop}>
        {stopped ? "Search further" : "Stop"}
      </button>
    </div>
  );
}
