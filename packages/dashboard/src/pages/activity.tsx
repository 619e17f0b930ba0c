/** @jsxImportSource preact */

import type { Email } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { EMAIL_FILTER_STATUSES, EMAILS_EXAMINED } from "../constants.ts";
import { CaptureNote } from "../parts/capture-note.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { useEvents, useList } from "../parts/resource.ts";
import { EmailState } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

const FILTERS = ["status", "to", "subject", "tag", "test"];

const COLUMNS: readonly Column<Email>[] = [
  { head: "To", width: "2 1 0", cell: ({ to, recipients }) => (recipients.length > 1 ? `${to} and ${recipients.length - 1} more` : to) },
  { head: "Subject", width: "3 1 0", second: true, cell: ({ subject }) => subject || <span class="soft">(no subject)</span> },
  {
    head: "State",
    width: "0 0 8.5rem",
    cell: ({ status, scheduledAt }) => <EmailState status={status === "queued" && scheduledAt ? "scheduled" : status} />,
  },
  { head: "Attempts", width: "0 0 5rem", wide: true, cell: ({ attempts }) => <span class="soft">{attempts}</span> },
  { head: "Accepted", width: "0 0 6.5rem", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Every email, newest first, as it moves. */
export default function Activity() {
  const filters = readFilters(FILTERS);
  const list = useList(
    (cursor, signal) =>
      api.emails.list({ ...filters, limit: 100, ...(cursor && { cursor }) } as Parameters<typeof api.emails.list>[0], { signal }),
    [JSON.stringify(filters)],
  );
  useEvents(({ type }) => type.startsWith("email."), list.refresh);
  return (
    <Page title="Activity" about="Every email and what became of it.">
      <CaptureNote />
      <Filters
        fields={[
          { name: "to", label: "Recipient", example: "To: ada@example.com", pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/ },
          { name: "subject", label: "Subject", example: "Subject begins with" },
          { name: "tag", label: "Tag", example: "Tag: name=value", pattern: /^[^=]+=/ },
          { name: "status", label: "State", options: EMAIL_FILTER_STATUSES },
        ]}
      />
      <DataTable
        label="Emails"
        list={list}
        columns={COLUMNS}
        href={({ id }) => toHref(`/activity/${id}`)}
        looked={{ each: EMAILS_EXAMINED, what: "emails" }}
        empty={Object.keys(filters).length > 0 ? <Empty title="No email fits these filters" /> : <NoEmail />}
      />
    </Page>
  );
}

function NoEmail() {
  return (
    <Empty title="No email yet">
      <p>Every email is listed here from the moment the server accepts it.</p>
      <CodeBlock
        label="A command that sends an email"
        code={"mailsvc emails send --from hello@acme.example --to ada@example.com \\\n  --subject Hello --text 'It works.'"}
      />
    </Empty>
  );
}
