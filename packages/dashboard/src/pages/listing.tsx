/** @jsxImportSource preact */
import type { Listing, WebhookTest } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { Checkout } from "../parts/agents/checkout.tsx";
import { ListingActivations } from "../parts/agents/listing-activations.tsx";
import { ListingDeliveries } from "../parts/agents/listing-deliveries.tsx";
import { type ListingFields, ListingForm } from "../parts/agents/listing-form.tsx";
import { formatMoney } from "../parts/agents/price.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { SecretOnce } from "../parts/secret-once.tsx";
import { Status } from "../parts/status.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { type PageProps, query, setQuery, toHref } from "../router.tsx";

const TABS = [
  { name: "listing", label: "Listing" },
  { name: "activations", label: "Activations" },
  { name: "deliveries", label: "Deliveries" },
];

/** One listing of the builder: what it says, its webhook, who uses it, and what was delivered. */
export default function ListingPage({ params }: PageProps) {
  const slug = params["slug"] ?? "";
  const listing = useResource((signal) => api.listings.get(slug, { signal }), [slug]);
  const [test, setTest] = useState<WebhookTest | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const { data, reload } = listing;
  const chosen = query.value.get("tab") ?? "listing";
  const actions =
    data && may("listings:write") ? (
      <>
        <ActionButton label="Send a test webhook" act={async () => setTest(await api.deliveries.test(slug))} />
        <RotateSecret
          slug={slug}
          done={(made) => {
            setSecret(made);
            reload();
          }}
        />
        {data.state === "LISTED" ? <Cancel listing={data} done={reload} /> : null}
      </>
    ) : null;
  return (
    <Page
      title={data?.name ?? "Listing"}
      back={{ href: toHref("/listings"), name: "My listings" }}
      about={data && <Status status={data.state} />}
      actions={actions}
    >
      <Loaded from={listing}>
        {(shown) => (
          <div class="columns">
            <div class="column">
              <Tabs
                label="The listing"
                tabs={TABS}
                chosen={chosen}
                choose={(tab) => setQuery({ tab: tab === "listing" ? "" : tab, state: "" })}
              >
                {chosen === "listing" ? <Editor listing={shown} done={reload} /> : null}
                {chosen === "activations" ? <ListingActivations slug={slug} /> : null}
                {chosen === "deliveries" ? <ListingDeliveries slug={slug} /> : null}
              </Tabs>
            </div>
            <aside class="column" aria-label="State">
              {secret === null ? null : <SecretOnce what="The new AGENT_WEBHOOK_SECRET" secret={secret} done={() => setSecret(null)} />}
              {test === null ? null : <TestAnswer test={test} />}
              {shown.state === "LISTED" ? null : <Checkout listing={shown} done={reload} />}
              <section class="card">
                <h2>Details</h2>
                <Facts facts={listFacts(shown)} />
              </section>
            </aside>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

interface Part {
  readonly listing: Listing;
  readonly done: () => void;
}

function Cancel({ listing: { slug, name }, done }: Part) {
  const act = async (): Promise<void> => {
    await api.listings.cancel(slug);
    toast("Taken out of the catalog");
    done();
  };
  return (
    <ConfirmButton label="Cancel the listing" question={`Take ${name} out of the catalog?`} danger act={act}>
      <p>At once, every key of the agent is refused and every activation ends. There is no grace period.</p>
    </ConfirmButton>
  );
}

function Editor({ listing, done }: Part) {
  if (!may("listings:write")) return <p class="said card">{listing.description}</p>;
  const save = async ({ slug, ...changes }: ListingFields): Promise<void> => {
    await api.listings.update(slug, changes);
    toast("Saved");
    done();
  };
  const { slug, name, description, webhookUrl, permissions, settingsSchema, installRedirects } = listing;
  return (
    <ListingForm
      initial={{ slug, name, description, webhookUrl, permissions, settingsSchema, installRedirects }}
      label="Save"
      save={save}
    />
  );
}

function listFacts(listing: Listing): (readonly [string, preact.ComponentChildren])[] {
  return [
    ["Price", `${formatMoney(listing.price)} a month`],
    ["Listed", listing.listedAt && <Time key="listed" at={listing.listedAt} exactly />],
    ["Paid until", listing.expiresAt && <Time key="paid" at={listing.expiresAt} exactly />],
    ["Ended", listing.endedAt && <Time key="ended" at={listing.endedAt} exactly />],
    [
      "Old secret",
      listing.secretRotatesAt && (
        <>
          signs until <Time at={listing.secretRotatesAt} exactly />
        </>
      ),
    ],
    ["Changed", <Time key="changed" at={listing.updatedAt} exactly />],
    ["Slug", <code key="slug">{listing.slug}</code>],
  ];
}

/** Answer of a webhook to test.ping, with a hint to fix it. */
function TestAnswer({ test: { ok, httpStatus, ms, message, hint, answer, eventId, class: kind } }: { readonly test: WebhookTest }) {
  return (
    <section class={`card summary test-answer ${ok ? "good" : "bad"}`} role="status">
      <h2>{ok ? "The webhook took the test" : (message ?? "The webhook did not take the test")}</h2>
      {ok ? null : <p>{hint}</p>}
      <p class="soft">
        {httpStatus === null ? kind.replaceAll("_", " ") : `Status ${httpStatus}`} · {Math.round(ms)} ms · <code>{eventId}</code>
      </p>
      {answer ? (
        <pre class="answer" tabIndex={0} role="region" aria-label="The answer">
          {answer}
        </pre>
      ) : null}
    </section>
  );
}

const OVERLAPS = [
  { seconds: 86_400, text: "For a day" },
  { seconds: 3600, text: "For an hour" },
  { seconds: 604_800, text: "For a week" },
  { seconds: 0, text: "Not at all: switch at once" },
];

interface RotateProps {
  readonly slug: string;
  /** Called with the new secret, which cannot be shown again. */
  readonly done: (secret: string) => void;
}

/** Makes a new webhook secret; the old one keeps signing for a while. */
function RotateSecret({ slug, done }: RotateProps) {
  const act = async (values: FormValues): Promise<void> => {
    const { webhookSecret } = await api.listings.rotateSecret(slug, { overlapSeconds: Number(values.text("overlapSeconds")) });
    done(webhookSecret);
  };
  return (
    <FormButton label="Rotate the secret" title="Make a new webhook secret" submit="Rotate" act={act}>
      <Field label="The old secret still signs" hint="Add the new secret to your receiver within this time.">
        <select name="overlapSeconds">
          {OVERLAPS.map(({ seconds, text }) => (
            <option key={seconds} value={seconds}>
              {text}
            </option>
          ))}
        </select>
      </Field>
    </FormButton>
  );
}
