/** @jsxImportSource preact */
import type { ReceivedMail } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { Page } from "../parts/page.tsx";
import { nameSender, shortenAddress } from "../parts/received/words.ts";
import { useEvents, useList } from "../parts/resource.ts";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

const FILTERS = ["from", "to", "email", "thread", "autoReply"];
const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

const COLUMNS: readonly Column<ReceivedMail>[] = [
  { head: "From", width: "2 1 0", cell: nameSender },
  { head: "Subject", width: "3 1 0", second: true, cell: ({ subject }) => subject || <span class="soft">(no subject)</span> },
  { head: "To", width: "2 1 0", wide: true, cell: ({ to }) => <span class="soft">{shortenAddress(to)}</span> },
  {
    head: "What it is",
    width: "0 0 10rem",
    wide: true,
    cell: ({ autoReply, emailId, campaignId }) =>
      autoReply !== null ? (
        <span class="status">automatic</span>
      ) : (
        <span class="soft">{campaignId !== null ? "answers a campaign" : emailId !== null ? "answers an email" : "new"}</span>
      ),
  },
  {
    head: "Files",
    width: "0 0 3.5rem",
    wide: true,
    cell: ({ attachmentCount }) => <span class="soft">{attachmentCount === 0 ? "" : attachmentCount}</span>,
  },
  { head: "Received", width: "0 0 6.5rem", cell: ({ receivedAt }) => <Time at={receivedAt} /> },
];

/** Mail that people have sent here: answers, and mail to inbound domains. */
export default function Received() {
  const filters = readFilters(FILTERS);
  const list = useList(
    (cursor, signal) =>
      api.received.list({ ...filters, limit: 100, ...(cursor && { cursor }) } as Parameters<typeof api.received.list>[0], { signal }),
    [JSON.stringify(filters)],
  );
  useEvents(({ type }) => type === "email.received", list.refresh);
  return (
    <Page title="Received" about="Answers to your mail, and mail to your inbound domains.">
      <Filters
        fields={[
          { name: "from", label: "From", example: "From: ada@example.com", pattern: ADDRESS },
          { name: "to", label: "To", example: "To: support@in.acme.example", pattern: ADDRESS },
          {
            name: "autoReply",
            label: "Written by",
            options: [
              { value: "false", text: "people" },
              { value: "true", text: "programs" },
            ],
          },
          // Set by the pages of emails.
          ...(filters["email"] === undefined ? [] : [{ name: "email", label: "Answers to email" }]),
        ]}
      />
      <DataTable
        label="Received mail"
        list={list}
        columns={COLUMNS}
        href={({ id }) => toHref(`/received/${id}`)}
        empty={Object.keys(filters).length > 0 ? <Empty title="No mail fits these filters" /> : <NoMail />}
      />
    </Page>
  );
}

function NoMail() {
  return (
    <Empty title="No mail received yet">
      <p>
        Send with Reply-To <code>auto</code> to receive the answers, or <a href={toHref("/inbound-domains")}>add a domain</a> to receive all
        mail to it.
      </p>
    </Empty>
  );
}
