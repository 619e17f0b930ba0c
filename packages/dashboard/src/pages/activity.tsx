/** @jsxImportSource preact */

import type { Email } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { EMAIL_FILTER_STATUSES, EMAILS_EXAMINED } from "../constants.ts";
import { CaptureNote } from "../parts/capture-note.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import type { Column } from "../parts/data-table.tsx";
import { withDays } from "../parts/filters.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { EmailState } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { query, toHref } from "../router.tsx";

const REACTIONS = ["opened", "clicked"];

// As many as a choice can show; the address takes any.
const CHOICES = 100;

/** Lists mail; reactions stand beside the states among the filters. */
const listEmails = withDays((query: Readonly<Record<string, string>>, options: { readonly signal: AbortSignal }) => {
  const { status, ...rest } = query;
  const state = status === undefined ? {} : REACTIONS.includes(status) ? { reaction: status } : { status };
  return api.emails.list({ ...rest, ...state } as Parameters<typeof api.emails.list>[0], options);
});

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
  return (
    <ListPage
      title="Activity"
      about="Every email and what became of it."
      filters={[
        { name: "to", label: "Recipient", example: "To: ada@example.com", pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/ },
        { name: "subject", label: "Subject", example: "Subject begins with" },
        { name: "status", label: "State", options: [...EMAIL_FILTER_STATUSES, ...REACTIONS] },
        { name: "since", label: "From", day: true, rare: true },
        { name: "until", label: "To", day: true, rare: true },
        { name: "from", label: "Sender", example: "From: hello@acme.example", pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/, rare: true },
        { name: "tag", label: "Tag", example: "Tag: name=value", pattern: /^[^=]+=/, rare: true },
        { name: "campaign", label: "Campaign", options: listCampaigns, rare: true },
        { name: "automation", label: "Automation", options: listAutomations, rare: true },
        { name: "template", label: "Template", options: listTemplates, rare: true },
        { name: "inDoubt", label: "In doubt", options: [{ value: "true", text: "In doubt" }], rare: true },
        // Set by links to the mail of test keys.
        ...(query.value.has("test") ? [{ name: "test", label: "Test keys", options: [{ value: "true", text: "Mail of test keys" }] }] : []),
      ]}
      load={listEmails}
      live={({ type }) => type.startsWith("email.")}
      label="Emails"
      columns={COLUMNS}
      href={({ id }) => toHref(`/activity/${id}`)}
      looked={{ each: EMAILS_EXAMINED, what: "emails" }}
      empty="No email yet"
      start={
        <>
          <p>Every email is listed here from the moment the server accepts it.</p>
          <CodeBlock
            label="A command that sends an email"
            code={"mailsvc emails send --from hello@acme.example --to ada@example.com \\\n  --subject Hello --text 'It works.'"}
          />
        </>
      }
      none="No email fits these filters"
    >
      <CaptureNote />
    </ListPage>
  );
}

async function listCampaigns(signal: AbortSignal) {
  return (await api.campaigns.list({ limit: CHOICES }, { signal })).data.map(({ id, name }) => ({ value: id, text: name }));
}

async function listAutomations(signal: AbortSignal) {
  return (await api.automations.list({ limit: CHOICES }, { signal })).data.map(({ id, name }) => ({ value: id, text: name }));
}

async function listTemplates(signal: AbortSignal) {
  return (await api.templates.list({ limit: CHOICES }, { signal })).data.map(({ slug, name }) => ({ value: slug, text: name }));
}
