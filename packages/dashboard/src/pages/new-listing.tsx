/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { type ListingFields, ListingForm } from "../parts/agents/listing-form.tsx";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { SecretOnce } from "../parts/secret-once.tsx";
import { go, toHref } from "../router.tsx";

const NOTHING: ListingFields = {
  slug: "",
  name: "",
  description: "",
  webhookUrl: "",
  permissions: [],
  settingsSchema: null,
  installRedirects: [],
};

/** Creates a listing, and shows its webhook secret this once. */
export default function NewListing() {
  const [made, setMade] = useState<{ readonly slug: string; readonly secret: string } | null>(null);
  const save = async (fields: ListingFields): Promise<void> => {
    const { slug, webhookSecret } = await api.listings.create(fields);
    setMade({ slug, secret: webhookSecret });
  };
  return (
    <Page
      title="New listing"
      back={{ href: toHref("/listings"), name: "My listings" }}
      about="A draft, which no brand sees until it is paid for."
    >
      <div class="scroll">
        {!may("listings:write") ? (
          <Empty title="Your role may not create listings">
            <p>Ask an owner of this workspace.</p>
          </Empty>
        ) : made === null ? (
          <ListingForm initial={NOTHING} isNew label="Create the draft" save={save} />
        ) : (
          <SecretOnce what="AGENT_WEBHOOK_SECRET" secret={made.secret} done={() => go(`/listings/${made.slug}`, { replace: true })} />
        )}
      </div>
    </Page>
  );
}
