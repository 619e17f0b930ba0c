/** @jsxImportSource preact */
import type { Delivery } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { DELIVERY_STATES } from "../../constants.ts";
import { toHref } from "../../router.tsx";
import { ActionButton } from "../action-button.tsx";
import { type Column, DataTable } from "../data-table.tsx";
import { Empty } from "../empty.tsx";
import { Filters, readFilters } from "../filters.tsx";
import { useList, useRegularly } from "../resource.ts";
import { Status } from "../status.tsx";
import { Time } from "../time.tsx";
import { toast } from "../toast.tsx";

const COLUMNS: readonly Column<Delivery>[] = [
  { head: "Event", width: "2 1 0", cell: ({ type }) => type },
  { head: "State", width: "0 0 6.5rem", cell: ({ state }) => <Status status={state} /> },
  { head: "Attempts", width: "0 0 4.5rem", wide: true, cell: ({ attempts }) => <span class="number soft">{attempts}</span> },
  {
    head: "Last answer",
    width: "0 0 8rem",
    second: true,
    cell: ({ lastAttempt }) => (
      <span class="soft">{lastAttempt && (lastAttempt.httpStatus ?? lastAttempt.class.replaceAll("_", " "))}</span>
    ),
  },
  { head: "When", width: "0 0 6.5rem", cell: ({ timestamp }) => <Time at={timestamp} /> },
];

/** The events for the webhook of a listing. */
export function ListingDeliveries({ slug }: { readonly slug: string }) {
  const filters = readFilters(["state"]);
  const list = useList(
    (cursor, signal) =>
      api.deliveries.list(slug, { ...filters, limit: 100, ...(cursor && { cursor }) } as Parameters<typeof api.deliveries.list>[1], {
        signal,
      }),
    [slug, JSON.stringify(filters)],
  );
  useRegularly(list.refresh);
  const recover = async (): Promise<void> => {
    const { count } = await api.deliveries.recover(slug);
    toast(count === 0 ? "Every event has arrived" : `${count} ${count === 1 ? "event goes" : "events go"} out now`);
    list.refresh();
  };
  return (
    <div class="stack">
      <Filters fields={[{ name: "state", label: "State", options: DELIVERY_STATES }]} />
      {may("listings:write") ? <ActionButton label="Send what was missed" act={recover} /> : null}
      <div class="framed">
        <DataTable
          label="Deliveries"
          list={list}
          columns={COLUMNS}
          href={({ id }) => toHref(`/listings/${slug}/deliveries/${id}`)}
          empty={
            <Empty title={filters["state"] ? "No event is in this state" : "No event yet"}>
              <p>Every event for the webhook is listed here, with its attempts and responses.</p>
            </Empty>
          }
        />
      </div>
    </div>
  );
}
