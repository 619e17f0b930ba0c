/** @jsxImportSource preact */
import type { Key } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { History } from "../parts/history.tsx";
import { KeyState } from "../parts/key-state.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { findKey } from "../parts/objects.ts";
import { Page } from "../parts/page.tsx";
import { useResource } from "../parts/resource.ts";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { type PageProps, toHref } from "../router.tsx";

/** One API key: what it may do, its limits, and what was done with it. */
export default function KeyPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const key = useResource((signal) => findKey(id, signal), [id]);
  return (
    <Page
      title={key.data?.name ?? "API key"}
      back={{ href: toHref("/keys"), name: "API keys" }}
      about={key.data && <KeyState apiKey={key.data} />}
      actions={key.data !== null && may("keys:write") ? <Actions apiKey={key.data} reload={key.reload} /> : null}
    >
      <div class="scroll">
        <Loaded from={key}>{(data) => <AboutKey apiKey={data} />}</Loaded>
        {key.error === null ? <History id={id} /> : null}
      </div>
    </Page>
  );
}

function Actions({ apiKey: { id, name, revokedAt }, reload }: { readonly apiKey: Key; readonly reload: () => void }) {
  const rename = async (values: FormValues): Promise<void> => {
    await api.keys.update(id, { name: values.text("name") });
    toast("Renamed");
    reload();
  };
  const revoke = async (): Promise<void> => {
    await api.keys.revoke(id);
    toast("Revoked");
    reload();
  };
  return (
    <>
      <FormButton label="Rename" title="Rename the key" act={rename}>
        <Field label="What it is for">
          <input name="name" required maxLength={100} defaultValue={name} autocomplete="off" />
        </Field>
      </FormButton>
      {revokedAt === null ? (
        <ConfirmButton label="Revoke" question={`Revoke the key ${name}?`} danger act={revoke}>
          <p>Programs that use it are refused at once. This cannot be undone.</p>
        </ConfirmButton>
      ) : null}
    </>
  );
}

function AboutKey({ apiKey }: { readonly apiKey: Key }) {
  const { id, preview, owner, permissions, senders, networks, createdAt, lastUsedAt, expiresAt, revokedAt } = apiKey;
  return (
    <section class="card">
      <h2>About this key</h2>
      <Facts
        facts={[
          ["Key", <code key="preview">{preview}</code>],
          ["May do", owner ? "everything, also what is added later" : permissions.join(", ")],
          ["Sends from", senders?.join(", ") ?? "all senders of the workspace"],
          ["Used from", networks?.join(", ") ?? "anywhere"],
          ["Last used", lastUsedAt === null ? "never" : <Time key="used" at={lastUsedAt} exactly />],
          ["Created", <Time key="created" at={createdAt} exactly />],
          ["Expires", revokedAt !== null ? null : expiresAt === null ? "never" : <Time key="expires" at={expiresAt} exactly />],
          ["Revoked", revokedAt && <Time key="revoked" at={revokedAt} exactly />],
          ["Id", <code key="id">{id}</code>],
        ]}
      />
      <p class="buttons after">
        {may("events:read") ? <a href={toHref(`/requests?key=${id}`)}>Requests</a> : null}
        {may("audit:read") ? <a href={toHref(`/audit?actor=${id}`)}>Changes made with it</a> : null}
      </p>
    </section>
  );
}
