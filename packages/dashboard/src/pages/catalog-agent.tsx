/** @jsxImportSource preact */
import type { CatalogAgent } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { Consent } from "../parts/agents/consent.tsx";
import { describePrice } from "../parts/agents/price.ts";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { Time } from "../parts/time.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

/** One agent of the catalog: what it does, what it asks for, and the consent that turns it on. */
export default function CatalogAgentPage({ params }: PageProps) {
  const slug = params["slug"] ?? "";
  const agent = useResource((signal) => api.catalog.get(slug, { signal }), [slug]);
  return (
    <Page
      title={agent.data?.name ?? "Agent"}
      back={{ href: toHref("/catalog"), name: "Catalog" }}
      about={agent.data && `by ${agent.data.builder.name}`}
    >
      <Loaded from={agent}>
        {(data) => (
          <div class="columns">
            <div class="column">
              <section class="card">
                <h2>What it does</h2>
                <p class="said">{data.description || "Its builder has not described it."}</p>
              </section>
              <section class="card">
                <h2>Details</h2>
                <Facts
                  facts={[
                    ["Price", describePrice(data)],
                    ["Schedule", describeSchedule(data)],
                    ["Builder", data.builder.name],
                    ["Listed", <Time key="listed" at={data.listedAt} />],
                    ["Name", <code key="slug">{data.slug}</code>],
                  ]}
                />
              </section>
            </div>
            <aside class="column" aria-label="What it may do">
              <Consent agent={data} done={(id) => go(`/agents/${id}`)} />
            </aside>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function describeSchedule({ permissions }: CatalogAgent): string {
  return permissions.some(({ scope }) => scope === "agent:wakeups")
    ? "Its own: it may plan when it works next"
    : "Works when something happens, such as your message";
}
