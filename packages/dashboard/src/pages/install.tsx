/** @jsxImportSource preact */
import type { CatalogAgent } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { Consent } from "../parts/agents/consent.tsx";
import { buildReturn, leadsBack } from "../parts/agents/install-return.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { go, type PageProps, query, toHref } from "../router.tsx";

/** The consent that a builder's install link asks for. Afterwards it leads back to the builder, if the listing has registered the address. */
export default function InstallPage({ params }: PageProps) {
  const slug = params["slug"] ?? "";
  const agent = useResource((signal) => api.catalog.get(slug, { signal }), [slug]);
  return (
    <Page
      title={agent.data ? `Turn on ${agent.data.name}` : "Turn on an agent"}
      back={{ href: toHref("/catalog"), name: "Catalog" }}
      about={agent.data && `by ${agent.data.builder.name}`}
    >
      <Loaded from={agent}>{(data) => <Install agent={data} />}</Loaded>
    </Page>
  );
}

function Install({ agent }: { readonly agent: CatalogAgent }) {
  const link = { redirect: query.value.get("redirect"), state: query.value.get("state") };
  if (!leadsBack(link, agent.installRedirects))
    return (
      <ErrorNote
        title="This link leads to an address that the agent has not registered"
        text="Nothing was turned on. Ask its builder for another link, or turn the agent on in the catalog."
      />
    );
  const done = (activationId: string): void => {
    const back = buildReturn(link, agent.installRedirects, activationId);
    if (back === null) go(`/agents/${activationId}`);
    else location.assign(back);
  };
  return (
    <>
      <section class="card">
        <h2>What it does</h2>
        <p class="said">{agent.description || "Its builder has not described it."}</p>
        {link.redirect === null ? null : <p class="soft">Afterwards you come back to {new URL(link.redirect).host}.</p>}
      </section>
      <Consent agent={agent} done={done} />
    </>
  );
}
