/** @jsxImportSource preact */
import type { Event } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { EVENT_PATTERNS } from "../constants.ts";
import type { Column } from "../parts/data-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

const COLUMNS: readonly Column<Event>[] = [
  { head: "Event", width: "0 0 13rem", cell: ({ type }) => <Status status={type.slice(type.indexOf(".") + 1)} text={type} /> },
  { head: "About", width: "2 1 0", second: true, cell: (event) => describe(event) },
  { head: "Tags", width: "1 1 0", wide: true, cell: ({ tags }) => <span class="soft">{listTags(tags)}</span> },
  { head: "At", width: "0 0 7rem", cell: ({ at }) => <Time at={at} /> },
];

/** Everything that happens in the workspace, as it happens. */
export default function Events() {
  return (
    <ListPage
      title="Events"
      about="What happens in this workspace, the newest first. Webhooks get the same."
      filters={[
        { name: "type", label: "Event", options: EVENT_PATTERNS },
        { name: "to", label: "Recipient", example: "To: ada@example.com", pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/ },
        { name: "tag", label: "Tag", example: "Tag: name=value", pattern: /^[^=]+=/ },
        { name: "test", label: "Test keys", options: [{ value: "true", text: "Mail of test keys" }] },
      ]}
      load={api.events.list}
      live={() => true}
      columns={COLUMNS}
      href={({ id }) => toHref(`/events/${id}`)}
      empty="Nothing has happened yet"
      start={<p>Send an email: each step of its way is an event.</p>}
      none="No event fits these filters"
    />
  );
}

/** Describes the person or object of an event. */
function describe({ to, recipient, contactId, campaignId, automationId, data }: Event): string {
  const email = recipient?.email ?? to;
  if (email) return email;
  const named = Object.entries(data).find(([name, value]) => /Id$|^name$|^email$/.test(name) && typeof value === "string");
  return contactId ?? campaignId ?? automationId ?? (named ? String(named[1]) : "");
}

function listTags(tags: Event["tags"]): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}
