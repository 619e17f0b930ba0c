/** @jsxImportSource preact */
import type { Activation } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { PAUSE_WORDS } from "../parts/agents/pause-note.tsx";
import type { Column } from "../parts/data-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { formatCount } from "../parts/plural.ts";
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
  return (
    <ListPage
      title="My agents"
      about="Agents that work for this workspace."
      actions={
        <a class="button" href={toHref("/catalog")}>
          Find an agent
        </a>
      }
      load={api.activations.list}
      live="regularly"
      label="Agents"
      columns={COLUMNS}
      href={({ id }) => toHref(`/agents/${id}`)}
      empty="No agent is on"
      start={
        <>
          <p>The catalog shows agents, what each asks for, and what it costs.</p>
          <a href={toHref("/catalog")}>Open the catalog</a>
        </>
      }
    />
  );
}
