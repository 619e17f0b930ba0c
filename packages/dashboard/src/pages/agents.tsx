/** @jsxImportSource preact */
import type { Activation } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { PAUSE_WORDS } from "../parts/agents/pause-note.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { formatCount } from "../parts/plural.ts";
import { useList, useRegularly } from "../parts/resource.ts";
import { ActivationState } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

const COLUMNS: readonly Column<Activation>[] = [
  { head: "Agent", width: "2 1 0", cell: ({ agentName }) => agentName },
  { head: "State", width: "0 0 9rem", cell: (activation) => <ActivationState activation={activation} /> },
  {
    head: "Why",
    width: "2 1 0",
    second: true,
    cell: ({ pauseReasons }) => <span class="soft">{pauseReasons.map((reason) => PAUSE_WORDS[reason]).join(", ")}</span>,
  },
  {
    head: "Credits a month",
    width: "0 0 8.5rem",
    wide: true,
    cell: ({ creditLimit }) => <span class="soft">{creditLimit === null ? "no limit" : `at most ${formatCount(creditLimit)}`}</span>,
  },
  { head: "On since", width: "0 0 6.5rem", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The agents that the workspace has turned on, or had. */
export default function Agents() {
  const list = useList((cursor, signal) => api.activations.list({ limit: 100, ...(cursor && { cursor }) }, { signal }), []);
  useRegularly(list.refresh);
  return (
    <Page
      title="My agents"
      about="Agents that work for this workspace."
      actions={
        <a class="button" href={toHref("/catalog")}>
          Find an agent
        </a>
      }
    >
      <DataTable
        label="Agents"
        list={list}
        columns={COLUMNS}
        href={({ id }) => toHref(`/agents/${id}`)}
        empty={
          <Empty title="No agent is on">
            <p>The catalog shows agents, what each asks for, and what it costs.</p>
            <a href={toHref("/catalog")}>Open the catalog</a>
          </Empty>
        }
      />
    </Page>
  );
}
