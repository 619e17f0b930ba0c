/** @jsxImportSource preact */
import type { CampaignDetail, Recipient } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { EMAIL_FILTER_STATUSES } from "../../constants.ts";
import { toHref } from "../../router.tsx";
import { ActionButton } from "../action-button.tsx";
import { type Column, DataTable } from "../data-table.tsx";
import { download } from "../download.ts";
import { Empty } from "../empty.tsx";
import { Filters, readFilters } from "../filters.tsx";
import { formatCount, count as plural } from "../plural.ts";
import { NUMBERS_MS, useEvents, useList } from "../resource.ts";
import { EmailState } from "../states.tsx";
import { Time } from "../time.tsx";
import { toast } from "../toast.tsx";
import { buildCsv } from "./csv.ts";
import { SKIP_REASONS } from "./skip-reasons.ts";

// The most that one answer has: reading all of 20,000 takes 20 requests.
const EXPORT_PAGE = 1000;
const PAGE = 200;

type Row = Recipient & { readonly id: string };
type RecipientQuery = Parameters<typeof api.campaigns.recipients>[1];

const COLUMNS: readonly Column<Row>[] = [
  { head: "To", width: "3 1 0", cell: ({ to }) => to || <span class="soft">(deleted)</span> },
  { head: "State", width: "0 0 7.5rem", cell: ({ status }) => <EmailState status={status} /> },
  { head: "Why", width: "3 1 0", second: true, cell: (recipient) => <span class="soft">{describeRecipient(recipient)}</span> },
  { head: "Variant", width: "0 0 4.5rem", wide: true, cell: ({ variant }) => variant ?? "" },
  { head: "Opened", width: "0 0 6.5rem", wide: true, cell: ({ openedAt }) => (openedAt === null ? "" : <Time at={openedAt} />) },
  { head: "Clicked", width: "0 0 6.5rem", wide: true, cell: ({ clickedAt }) => (clickedAt === null ? "" : <Time at={clickedAt} />) },
  { head: "Sent", width: "0 0 6.5rem", cell: ({ sentAt }) => (sentAt === null ? "" : <Time at={sentAt} />) },
];

/** Everybody to whom a campaign goes, with what became of it. */
export function CampaignRecipients({ campaign: { id, name, abTest } }: { readonly campaign: CampaignDetail }) {
  const filters = readFilters(["status"]);
  const list = useList<Row>(
    async (cursor, signal) => {
      const page = await api.campaigns.recipients(id, { ...filters, limit: PAGE, ...(cursor && { cursor }) } as RecipientQuery, { signal });
      return { ...page, data: page.data.map((one) => ({ ...one, id: one.emailId })) };
    },
    [id, JSON.stringify(filters)],
  );
  useEvents(({ campaignId }) => campaignId === id, list.refresh, NUMBERS_MS);
  return (
    <>
      <div class="what">
        <Filters fields={[{ name: "status", label: "State", options: EMAIL_FILTER_STATUSES.filter((status) => status !== "scheduled") }]} />
        <Export id={id} name={name} filters={filters} />
      </div>
      <DataTable
        label="Recipients"
        list={list}
        columns={abTest === null ? COLUMNS.filter(({ head }) => head !== "Variant") : COLUMNS}
        href={({ emailId }) => toHref(`/activity/${emailId}`)}
        empty={<Empty title={Object.keys(filters).length > 0 ? "No recipient is in this state" : "No recipients yet"} />}
      />
    </>
  );
}

/** Describes the reason a recipient got nothing, or not yet. */
function describeRecipient({ skipReason, lastError, inDoubt, unsubscribedAt }: Recipient): string {
  if (skipReason !== null) return SKIP_REASONS[skipReason];
  if (lastError !== null) return lastError.message;
  if (unsubscribedAt !== null) return "unsubscribed by this mail";
  return inDoubt ? "may arrive twice" : "";
}

interface ExportProps {
  readonly id: string;
  readonly name: string;
  readonly filters: Readonly<Record<string, string>>;
}

const FIELDS = [
  "to",
  "status",
  "skipReason",
  "variant",
  "attempts",
  "sentAt",
  "openedAt",
  "clickedAt",
  "unsubscribedAt",
  "emailId",
  "contactId",
] as const;

/** Saves all recipients that fit the filter as a CSV file. */
function Export({ id, name, filters }: ExportProps) {
  const [read, setRead] = useState<number | null>(null);
  const act = async (): Promise<void> => {
    const all: Recipient[] = [];
    try {
      for (let cursor: string | null | undefined; cursor !== null; ) {
        setRead(all.length);
        const { data, pagination } = await api.campaigns.recipients(id, {
          ...filters,
          limit: EXPORT_PAGE,
          ...(cursor && { cursor }),
        } as RecipientQuery);
        all.push(...data);
        cursor = pagination.nextCursor;
      }
      download(
        `${name.replaceAll(/[^\p{L}\p{N} _-]/gu, "").trim() || "recipients"}.csv`,
        // With the mark, Excel reads it as UTF-8.
        [
          "\ufeff",
          buildCsv(
            [...FIELDS],
            all.map((one) => FIELDS.map((field) => one[field])),
          ),
        ],
        "text/csv",
      );
      toast(`${plural(all.length, "recipient")} saved`);
    } finally {
      setRead(null);
    }
  };
  return <ActionButton label={read === null ? "Export as CSV" : `Reading: ${formatCount(read)}`} act={act} />;
}
