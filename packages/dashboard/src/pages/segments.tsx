/** @jsxImportSource preact */
import type { Segment } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import type { Column } from "../parts/data-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { formatCount } from "../parts/plural.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

const COLUMNS: readonly Column<Segment>[] = [
  { head: "Segment", width: "3 1 0", cell: ({ name }) => name },
  { head: "Description", width: "3 1 0", second: true, cell: ({ description }) => <span class="soft">{description}</span> },
  {
    head: "People",
    width: "0 0 6.5rem",
    cell: ({ memberCount, state }) =>
      state === "BUILDING" ? <Status status="processing" text="counting" /> : <span class="number">{formatCount(memberCount)}</span>,
  },
  { head: "Changed", width: "0 0 6.5rem", wide: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

/** Groups of people by rules: who matches is in them. */
export default function Segments() {
  return (
    <ListPage
      title="Segments"
      about="Groups defined by rules. People enter and leave them automatically."
      actions={
        may("segments:write") ? (
          <a class="button primary" href={toHref("/segments/new")}>
            Add a segment
          </a>
        ) : null
      }
      filters={[{ name: "search", label: "Search", example: "Search segments" }]}
      load={api.segments.list}
      live={({ type }) => type.startsWith("segment.")}
      columns={COLUMNS}
      href={({ id }) => toHref(`/segments/${id}`)}
      empty="No segments yet"
      start={<p>A segment finds people by what they did and what you know about them: tags, lists, opens, custom fields.</p>}
      none="No segments match this search"
    />
  );
}
