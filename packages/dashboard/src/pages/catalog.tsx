/** @jsxImportSource preact */
import { api } from "../api/client.ts";
import { describePrice } from "../parts/agents/price.ts";
import { Empty } from "../parts/empty.tsx";
import { Filters, readFilters } from "../parts/filters.tsx";
import { ListStates } from "../parts/list-states.tsx";
import { Page } from "../parts/page.tsx";
import { useList } from "../parts/resource.ts";
import { Status } from "../parts/status.tsx";
import { toHref } from "../router.tsx";

/** The agents that can be turned on. */
export default function Catalog() {
  const filters = readFilters(["search"]);
  const list = useList(
    async (cursor, signal) => {
      const page = await api.catalog.list({ ...filters, limit: 60, ...(cursor && { cursor }) }, { signal });
      // Ids sort by time.
      return { ...page, data: page.data.map((agent) => ({ ...agent, id: `${agent.listedAt} ${agent.slug}` })) };
    },
    [JSON.stringify(filters)],
  );
  return (
    <Page title="Catalog" about="Agents of other people that work for you, within what you grant them.">
      <Filters fields={[{ name: "search", label: "Search", example: "Name or description" }]} />
      <div class="agents">
        <ListStates list={list} empty={<Empty title={filters["search"] ? "No agent fits this search" : "No agent is listed yet"} />}>
          <ul class="agent-grid">
            {list.items.map((agent) => (
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
                  {agent.permissions.length === 1 ? "1 permission" : `${agent.permissions.length} permissions`} · {describePrice(agent)}
                </p>
              </li>
            ))}
          </ul>
        </ListStates>
      </div>
    </Page>
  );
}
