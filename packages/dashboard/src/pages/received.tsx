/** @jsxImportSource preact */
import type { ReceivedMail } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import type { Column } from "../parts/data-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { nameSender, shortenAddress } from "../parts/received/words.ts";
import { Time } from "../parts/time.tsx";
import { query, toHref } from "../router.tsx";

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
  return (
    <ListPage
      title="Received"
      about="Replies to your mail, and mail to your inbound domains."
      filters={[
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
        ...(query.value.has("email") ? [{ name: "email", label: "Answers to email" }] : []),
        ...(query.value.has("thread") ? [{ name: "thread", label: "Conversation" }] : []),
      ]}
      load={api.received.list}
      live={({ type }) => type === "email.received"}
      label="Received mail"
      columns={COLUMNS}
      href={({ id }) => toHref(`/received/${id}`)}
      empty="No mail received yet"
      start={
        <p>
          Send with Reply-To <code>auto</code> to receive the answers, or <a href={toHref("/inbound-domains")}>add a domain</a> to receive
          all mail to it.
        </p>
      }
      none="No mail fits these filters"
    />
  );
}
