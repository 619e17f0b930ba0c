/** @jsxImportSource preact */
import type { Event } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { EVENT_PATTERNS } from "../constants.ts";
import type { Column } from "../parts/data-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { ObjectName } from "../parts/object-link.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

const COLUMNS: readonly Column<Event>[] = [
  { head: "Event", width: "0 0 13rem", cell: ({ type }) => <Status status={type.slice(type.indexOf(".") + 1)} text={type} /> },
  { head: "About", width: "2 1 0", second: true, cell: (event) => <About event={event} /> },
  { head: "Tags", width: "1 1 0", wide: true, cell: ({ tags }) => <span class="soft">{listTags(tags)}</span> },
  { head: "At", width: "0 0 7rem", cell: ({ at }) => <Time at={at} /> },
];

/** Everything that happens in the workspace, as it happens. */
export default function Events() {
  return (
    <ListPage
      title="Events"
      about="Everything that happens in this workspace, newest first. Webhooks receive the same events."
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

/** The person or object of an event. */
function About({ event: { to, recipient, contactId, campaignId, automationId, data } }: { readonly event: Event }) {
  const find = (pattern: RegExp): string | undefined =>
    Object.entries(data).find((entry): entry is [string, string] => pattern.test(entry[0]) && typeof entry[1] === "string")?.[1];
  const name = recipient?.email ?? to ?? find(/^(?:email|name)$/);
  if (name) return <>{name}</>;
  const id = contactId ?? campaignId ?? automationId ?? find(/Id$/);
  return id ? <ObjectName key={id} id={id} /> : null;
}

function listTags(tags: Event["tags"]): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}
