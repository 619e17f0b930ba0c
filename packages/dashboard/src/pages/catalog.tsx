/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { describePrice } from "../parts/agents/price.ts";
import { ListPage } from "../parts/list-page.tsx";
import { count } from "../parts/plural.ts";
import { Status } from "../parts/status.tsx";
import { toHref } from "../router.tsx";

/** The agents that can be turned on. */
export default function Catalog() {
  return (
    <ListPage
      title="Catalog"
      about="Agents that work for you, with only the permissions you grant."
      filters={[{ name: "search", label: "Search", example: "Name or description" }]}
      load={listAgents}
      entries={(agents) => (
        <ul class="agent-grid">
          {agents.map((agent) => (
            <li key={agent.slug} class="card agent-tile">
              <div class="what">
                <h2>
                  <a href={toHref(`/catalog/${agent.slug}`)}>{agent.name}</a>
                </h2>
                {agent.activationId === null ? null : <Status status="active" />}
              </div>
              <p class="soft">by {agent.builder.name}</p>
              <p class="lines">{agent.description}</p>
              <p class="soft tile-foot">
                {count(agent.permissions.length, "permission")} · {describePrice(agent)}
              </p>
            </li>
          ))}
        </ul>
      )}
      around={(list) => <div class="agents">{list}</div>}
      empty="No agent is listed yet"
      none="No agents match this search"
    />
  );
}

async function listAgents(query: NonNullable<Parameters<typeof api.catalog.list>[0]>, options: { readonly signal: AbortSignal }) {
  const page = await api.catalog.list(query, options);
  // Ids sort by time.
  return { ...page, data: page.data.map((agent) => ({ ...agent, id: `${agent.listedAt} ${agent.slug}` })) };
}
