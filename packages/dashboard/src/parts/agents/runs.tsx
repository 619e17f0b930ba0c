/** @jsxImportSource preact */
import type { Run } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { toHref } from "../../router.tsx";
import { type Column, DataTable } from "../data-table.tsx";
import { Empty } from "../empty.tsx";
import { formatCount } from "../plural.ts";
import { useList, useRegularly } from "../resource.ts";
import { Status } from "../status.tsx";
import { Time } from "../time.tsx";

const COLUMNS: readonly Column<Run>[] = [
  { head: "Run", width: "3 1 0", cell: ({ title, runId }) => title ?? runId },
  { head: "State", width: "0 0 6.5rem", cell: ({ status }) => <Status status={status} /> },
  {
    head: "Progress",
    width: "0 0 5rem",
    second: true,
    cell: ({ progress }) => <span class="number soft">{progress === null ? "" : `${Math.round(progress.percent)} %`}</span>,
  },
  {
    head: "Credits",
    width: "0 0 4.5rem",
    wide: true,
    cell: ({ creditsConsumed }) => <span class="number soft">{formatCount(creditsConsumed)}</span>,
  },
  { head: "Started", width: "0 0 6.5rem", cell: ({ startedAt }) => <Time at={startedAt} /> },
];

/** The runs of an agent, newest first. */
export function Runs({ activationId }: { readonly activationId: string }) {
  const list = useList(
    async (cursor, signal) => {
      const page = await api.runs.list(activationId, { limit: 100, ...(cursor && { cursor }) }, { signal });
      // Agents choose the ids of runs; these sort by time.
      return { ...page, data: page.data.map((run) => ({ ...run, id: `${run.startedAt} ${run.runId}` })) };
    },
    [activationId],
  );
  useRegularly(list.refresh);
  return (
    <div class="framed">
      <DataTable
        label="Runs"
        list={list}
        columns={COLUMNS}
        href={({ runId }) => toHref(`/agents/${activationId}/runs/${runId}`)}
        empty={
          <Empty title="No run yet">
            <p>A run is a piece of work of the agent, with its progress, log and costs.</p>
          </Empty>
        }
      />
    </div>
  );
}
