/** @jsxImportSource preact */
import type { CatalogAgent } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may, session } from "../api/session.ts";
import { describePrice } from "../parts/agents/price.ts";
import { readSettings, SettingFields } from "../parts/agents/setting-fields.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Facts } from "../parts/facts.tsx";
import { Field } from "../parts/field.tsx";
import { FormValues } from "../parts/form-button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { useSending } from "../parts/sending.ts";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
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
                <h2>Facts</h2>
                <Facts
                  facts={[
                    ["Price", describePrice(data.price)],
                    ["Schedule", describeSchedule(data)],
                    ["Builder", data.builder.name],
                    ["Listed", <Time key="listed" at={data.listedAt} />],
                    ["Name", <code key="slug">{data.slug}</code>],
                  ]}
                />
              </section>
            </div>
            <aside class="column" aria-label="What it may do">
              <Consent agent={data} />
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

/** What is granted, in words, and the button that grants it. */
function Consent({ agent }: { readonly agent: CatalogAgent }) {
  const [agreed, setAgreed] = useState(false);
  const [limit, setLimit] = useState("");
  const sending = useSending();
  const { busy, error } = sending;
  const spends = agent.permissions.some(({ scope }) => scope === "agent:consume_credits");
  const { settingsSchema } = agent;
  const turnOn = (form: FormValues) =>
    sending.send(async () => {
      const { id } = await api.activations.create({
        agentSlug: agent.slug,
        acceptedPermissions: agent.permissions.map(({ scope }) => scope),
        ...(limit !== "" && { creditLimit: Number(limit) }),
        ...(settingsSchema !== null && { settings: readSettings(settingsSchema, form) }),
      });
      toast(`${agent.name} is on`);
      go(`/agents/${id}`);
    });
  return (
    <section class="card">
      <h2>What it may do</h2>
      <ul class="grants">
        {agent.permissions.map(({ scope, grants }) => (
          <li key={scope}>
            <span>{grants}</span>
            <code class="soft">{scope}</code>
          </li>
        ))}
      </ul>
      <p class="soft">Nothing else: it never sees your contacts, emails or campaigns.</p>
      {agent.activationId !== null ? (
        <p>
          It is on. <a href={toHref(`/agents/${agent.activationId}`)}>Open it</a>
        </p>
      ) : may("marketplace:write") ? (
        <form
          class="form consent"
          onSubmit={(event) => {
            event.preventDefault();
            void turnOn(new FormValues(new FormData(event.currentTarget)));
          }}
        >
          {spends ? (
            <Field label="Credits a month, at most" hint="Empty for no limit of its own.">
              <input
                type="number"
                min={0}
                step={1}
                inputMode="numeric"
                value={limit}
                onInput={({ currentTarget }) => setLimit(currentTarget.value)}
              />
            </Field>
          ) : null}
          {settingsSchema === null ? null : <SettingFields schema={settingsSchema} values={{}} />}
          <label class="check">
            <input type="checkbox" required checked={agreed} onChange={({ currentTarget }) => setAgreed(currentTarget.checked)} />
            <span>
              I let {agent.name} do this in {session.value?.workspace.name}
            </span>
          </label>
          {error === null ? null : <ErrorNote error={error} />}
          <div class="buttons">
            <button type="submit" class="primary" disabled={busy || !agreed}>
              Turn it on
            </button>
          </div>
        </form>
      ) : (
        <p class="soft">Your role may not turn agents on.</p>
      )}
    </section>
  );
}
