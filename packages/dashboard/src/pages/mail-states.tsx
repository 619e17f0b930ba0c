/** @jsxImportSource preact */
import type { MailState } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { EMAIL_FILTER_STATUSES, EMAILS_EXAMINED } from "../constants.ts";
import type { Column } from "../parts/data-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
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
  return (
    <ListPage
      title="Mail states"
      about="Whether mail has arrived, and why not. Content and people's data are not part of your role."
      filters={[
        { name: "to", label: "Recipient", example: "To: ada@example.com", pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/ },
        { name: "status", label: "State", options: EMAIL_FILTER_STATUSES },
      ]}
      load={api.mailStates.list}
      live="regularly"
      label="Mail"
      columns={COLUMNS}
      href={({ id }) => toHref(`/mail-states/${id}`)}
      looked={{ each: EMAILS_EXAMINED, what: "emails" }}
      empty="No email yet"
      none="No email fits these filters"
    />
  );
}
