/** @jsxImportSource preact */
import type { Listing } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import type { Column } from "../parts/data-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

const COLUMNS: readonly Column<Listing>[] = [
  { head: "Agent", width: "2 1 0", cell: ({ name }) => name },
  { head: "State", width: "0 0 6.5rem", cell: ({ state }) => <Status status={state} /> },
  { head: "Webhook", width: "3 1 0", second: true, cell: ({ webhookUrl }) => <code class="soft">{webhookUrl}</code> },
  { head: "Paid until", width: "0 0 6.5rem", wide: true, cell: ({ expiresAt }) => (expiresAt === null ? "" : <Time at={expiresAt} />) },
  { head: "Changed", width: "0 0 6.5rem", cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

/** The builder's own listings. */
export default function Listings() {
  return (
    <ListPage
      title="My listings"
      about="Agents that this workspace offers to brands."
      actions={
        may("listings:write") ? (
          <a class="button primary" href={toHref("/new-listing")}>
            New listing
          </a>
        ) : null
      }
      load={api.listings.list}
      label="Listings"
      columns={COLUMNS}
      href={({ slug }) => toHref(`/listings/${slug}`)}
      empty="No listing yet"
      start={<p>A listing offers your agent to brands. It is a draft until it is paid for.</p>}
    />
  );
}
