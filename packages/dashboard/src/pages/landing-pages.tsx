/** @jsxImportSource preact */
import type { LandingPageSummary } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { PageState } from "../parts/agents/page-state.tsx";
import type { Column } from "../parts/data-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Time } from "../parts/time.tsx";
import { toHref } from "../router.tsx";

const COLUMNS: readonly Column<LandingPageSummary>[] = [
  { head: "Page", width: "3 1 0", cell: ({ title }) => title },
  { head: "Address", width: "2 1 0", second: true, cell: ({ slug }) => <code class="soft">{slug}</code> },
  { head: "State", width: "0 0 7rem", cell: ({ status }) => <PageState status={status} /> },
  {
    head: "Made by",
    width: "0 0 11rem",
    wide: true,
    cell: ({ createdBy, hasForm }) => (
      <span class="soft">{!createdBy.agent ? "you, as a form" : hasForm ? "an agent, with a form" : "an agent"}</span>
    ),
  },
  { head: "Changed", width: "0 0 6.5rem", cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

/** The landing pages that agents have made for the brand. */
export default function LandingPages() {
  return (
    <ListPage
      title="Landing pages"
      about="Sign-up pages on this server: those your agents made, and your forms."
      filters={[
        {
          name: "status",
          label: "State",
          options: [
            { value: "PUBLISHED", text: "online" },
            { value: "DRAFT", text: "draft" },
          ],
        },
        { name: "activationId", label: "Agent", options: listAgents },
      ]}
      load={api.landingPages.list}
      live="regularly"
      columns={COLUMNS}
      href={({ id, createdBy }) => toHref(createdBy.agent ? `/landing-pages/${id}` : `/forms/${id}`)}
      empty="No landing pages yet"
      start={
        <p>
          Agents write sign-up pages, and you decide which of them go online.{" "}
          <a href={toHref("/catalog")}>Find an agent that makes pages</a>, or <a href={toHref("/forms")}>add a form</a> yourself.
        </p>
      }
      none="No page fits these filters"
    />
  );
}

async function listAgents(signal: AbortSignal): Promise<{ value: string; text: string }[]> {
  const { data } = await api.activations.list({ limit: 100 }, { signal });
  return data.map(({ id, agentName }) => ({ value: id, text: agentName }));
}
