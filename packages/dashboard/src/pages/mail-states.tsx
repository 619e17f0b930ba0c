/** @jsxImportSource preact */
import type { MailState } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { EMAIL_FILTER_STATUSES, EMAILS_EXAMINED } from "../constants.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { useList, useRegularly } from "../parts/resource.ts";
import { EmailState } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

const COLUMNS: readonly Column<MailState>[] = [
  { head: "To", width: "3 1 0", cell: ({ to, recipients }) => (recipients.length > 1 ? `${to} and ${recipients.length - 1} more` : to) },
  { head: "From", width: "2 1 0", second: true, cell: ({ from, template }) => <span class="soft">{template ?? from}</span> },
  {
    head: "State",
    width: "0 0 8.5rem",
    cell: ({ status, scheduledAt }) => <EmailState status={status === "queued" && scheduledAt ? "scheduled" : status} />,
  },
  { head: "Accepted", width: "0 0 6.5rem", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Mail without its content, for support: whether it arrived. */
export default function MailStates() {
  const filters = readFilters(["to", "status"]);
  const list = useList(
    (cursor, signal) =>
      api.mailStates.list({ ...filters, limit: 100, ...(cursor && { cursor }) } as Parameters<typeof api.mailStates.list>[0], { signal }),
    [JSON.stringify(filters)],
  );
  useRegularly(list.refresh);
  return (
    <Page title="Mail states" about="Whether mail has arrived, and why not. Content and people's data are not part of your role.">
      <Filters
        fields={[
          { name: "to", label: "Recipient", example: "To: ada@example.com", pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/ },
          { name: "status", label: "State", options: EMAIL_FILTER_STATUSES },
        ]}
      />
      <DataTable
        label="Mail"
        list={list}
        columns={COLUMNS}
        href={({ id }) => toHref(`/mail-states/${id}`)}
        looked={{ each: EMAILS_EXAMINED, what: "emails" }}
        empty={<Empty title={Object.keys(filters).length > 0 ? "No email fits these filters" : "No email yet"} />}
      />
    </Page>
  );
}
