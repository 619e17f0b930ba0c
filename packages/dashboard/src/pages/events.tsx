/** @jsxImportSource preact */
import type { Event } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { EVENT_PATTERNS } from "../constants.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { useEvents, useList } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

const FILTERS = ["type", "to", "tag", "test"];

const COLUMNS: readonly Column<Event>[] = [
  { head: "Event", width: "0 0 13rem", cell: ({ type }) => <Status status={type.slice(type.indexOf(".") + 1)} text={type} /> },
  { head: "About", width: "2 1 0", second: true, cell: (event) => describe(event) },
  { head: "Tags", width: "1 1 0", wide: true, cell: ({ tags }) => <span class="soft">{listTags(tags)}</span> },
  { head: "At", width: "0 0 7rem", cell: ({ at }) => <Time at={at} /> },
];

/** Everything that happens in the workspace, as it happens. */
export default function Events() {
  const filters = readFilters(FILTERS);
  const list = useList(
    (cursor, signal) =>
      api.events.list({ ...filters, limit: 100, ...(cursor && { cursor }) } as Parameters<typeof api.events.list>[0], { signal }),
    [JSON.stringify(filters)],
  );
  useEvents(() => true, list.refresh);
  const filtered = Object.keys(filters).length > 0;
  return (
    <Page title="Events" about="What happens in this workspace, the newest first. Webhooks get the same.">
      <Filters
        fields={[
          { name: "type", label: "Event", options: EVENT_PATTERNS },
          { name: "to", label: "Recipient", example: "To: ada@example.com", pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/ },
          { name: "tag", label: "Tag", example: "Tag: name=value", pattern: /^[^=]+=/ },
          { name: "test", label: "Test keys", options: [{ value: "true", text: "Mail of test keys" }] },
        ]}
      />
      <DataTable
        label="Events"
        list={list}
        columns={COLUMNS}
        href={({ id }) => toHref(`/events/${id}`)}
        empty={
          <Empty title={filtered ? "No event fits these filters" : "Nothing has happened yet"}>
            {filtered ? null : <p>Send an email: each step of its way is an event.</p>}
          </Empty>
        }
      />
    </Page>
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
