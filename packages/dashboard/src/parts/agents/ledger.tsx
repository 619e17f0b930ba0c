/** @jsxImportSource preact */

import type { CreditEntry } from "@mailsvc/sdk/contract";
import { type Column, DataTable } from "../data-table.tsx";
import { Empty } from "../empty.tsx";
import { ObjectLink } from "../object-link.tsx";
import { formatCount } from "../plural.ts";
import type { PagedList } from "../resource.ts";
import { Time } from "../time.tsx";

const KINDS: Readonly<Record<CreditEntry["kind"], string>> = { grant: "Added", consume: "Spent", refund: "Refunded" };

const COLUMNS: readonly Column<CreditEntry>[] = [
  { head: "What", width: "3 1 0", cell: ({ kind, action, description }) => [KINDS[kind], action, description].filter(Boolean).join(" · ") },
  {
    head: "Agent",
    width: "1 1 0",
    second: true,
    cell: ({ activationId, runId }) =>
      activationId === null ? null : <ObjectLink id={runId ?? activationId} of={runId === null ? undefined : activationId} />,
  },
  {
    head: "Credits",
    width: "0 0 5.5rem",
    cell: ({ amount }) => <span class={`number ${amount < 0 ? "" : "more"}`}>{`${amount > 0 ? "+" : ""}${formatCount(amount)}`}</span>,
  },
  {
    head: "Balance",
    width: "0 0 5.5rem",
    wide: true,
    cell: ({ balanceAfter }) => <span class="number soft">{formatCount(balanceAfter)}</span>,
  },
  { head: "When", width: "0 0 6.5rem", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Entries of the ledger of credits. */
export function Ledger({ list }: { readonly list: PagedList<CreditEntry> }) {
  return (
    <DataTable
      label="Ledger"
      list={list}
      columns={COLUMNS}
      empty={
        <Empty title="Nothing was spent yet">
          <p>Each entry shows what was spent, by which agent, and what was left afterwards.</p>
        </Empty>
      }
    />
  );
}
