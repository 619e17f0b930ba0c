/** @jsxImportSource preact */
import type { Email } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { useEvents, useList } from "../../parts/resource.ts";
import { EmailState } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { toHref } from "../../router.tsx";

const COLUMNS: readonly Column<Email>[] = [
  { head: "Subject", width: "3 1 0", cell: ({ subject }) => subject || "(no subject)" },
  { head: "State", width: "0 0 7rem", cell: ({ status }) => <EmailState status={status} /> },
  { head: "Accepted", width: "0 0 6.5rem", wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The emails to a person, the newest first. */
export function ContactEmails({ email }: { readonly email: string }) {
  const list = useList((cursor, signal) => api.emails.list({ to: email, limit: 100, ...(cursor && { cursor }) }, { signal }), [email]);
  useEvents(({ to }) => to === email, list.refresh);
  return (
    <div class="framed">
      <DataTable
        label="Emails"
        list={list}
        columns={COLUMNS}
        href={({ id }) => toHref(`/activity/${id}`)}
        empty={<Empty title="No mail was sent to this person" />}
      />
    </div>
  );
}
