/** @jsxImportSource preact */
import type { Key, Permission } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { PERMISSIONS } from "../constants.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import type { Column } from "../parts/data-table.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { KeyState } from "../parts/key-state.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { SecretOnce } from "../parts/secret-once.tsx";
import { splitList } from "../parts/split-list.ts";
import { Time } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { toHref } from "../router.tsx";

/** The API keys of the workspace. */
export default function Keys() {
  const [secret, setSecret] = useState<string | null>(null);
  const create =
    (refresh: () => void) =>
    async (values: FormValues): Promise<void> => {
      const permissions = values.all("permission") as Permission[];
      const senders = splitList(values.text("senders"));
      const networks = splitList(values.text("networks"));
      const end = values.text("expiresAt");
      const { key } = await api.keys.create({
        name: values.text("name"),
        permissions,
        ...(values.has("test") && { test: true }),
        ...(end !== "" && { expiresAt: new Date(end).toISOString() }),
        ...(senders.length > 0 && { senders }),
        ...(networks.length > 0 && { networks }),
      });
      setSecret(key);
      refresh();
    };
  const revoke =
    (refresh: () => void) =>
    async ({ id }: Key): Promise<void> => {
      await api.keys.revoke(id);
      toast("Revoked");
      refresh();
    };
  return (
    <ListPage
      title="API keys"
      about="Your programs use these keys to call the API. The server stores only their hashes."
      actions={(refresh) =>
        may("keys:write") ? (
          <FormButton label="Create a key" title="Create an API key" submit="Create" primary act={create(refresh)}>
            <KeyFields />
          </FormButton>
        ) : null
      }
      filters={[
        {
          name: "revoked",
          label: "State",
          options: [
            { value: "false", text: "Live" },
            { value: "true", text: "Revoked" },
          ],
        },
      ]}
      load={api.keys.list}
      columns={(refresh) => listColumns(revoke(refresh))}
      href={({ id }) => toHref(`/keys/${id}`)}
      empty="No keys"
      none="No key fits these filters"
    >
      {secret === null ? null : <SecretOnce what="The new API key" secret={secret} done={() => setSecret(null)} />}
    </ListPage>
  );
}

function listColumns(revoke: (key: Key) => Promise<void>): readonly Column<Key>[] {
  return [
    { head: "Name", width: "2 1 0", cell: ({ name }) => name },
    { head: "Key", width: "0 0 11rem", wide: true, cell: ({ preview }) => <code>{preview}</code> },
    {
      head: "Permissions",
      width: "3 1 0",
      wide: true,
      cell: ({ owner, permissions }) => (
        <span class="soft" title={permissions.join(", ")}>
          {owner ? "everything" : permissions.join(", ")}
        </span>
      ),
    },
    {
      head: "State",
      width: "0 0 5.5rem",
      cell: (key) => <KeyState apiKey={key} />,
    },
    {
      head: "Last used",
      width: "0 0 6.5rem",
      wide: true,
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? <span class="soft">never</span> : <Time at={lastUsedAt} />),
    },
    {
      head: "Limits",
      width: "1 1 0",
      wide: true,
      cell: ({ state, expiresAt, senders, networks }) => (
        <span class="soft">
          {[senders?.join(", "), networks?.join(", ")].filter(Boolean).join("; ")}
          {expiresAt === null ? null : (
            <>
              {" "}
              {state === "expired" ? "expired" : "until"} <Time at={expiresAt} />
            </>
          )}
        </span>
      ),
    },
    { head: "Created", width: "0 0 6.5rem", wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      head: "Action",
      width: "0 0 5.5rem",
      cell: (key) =>
        may("keys:write") && key.revokedAt === null ? (
          <ConfirmButton label="Revoke" question={`Revoke the key ${key.name}?`} danger act={() => revoke(key)}>
            <p>Programs that use it are refused at once. This cannot be undone.</p>
          </ConfirmButton>
        ) : null,
    },
  ];
}

/** Permissions that programs of a kind need. */
const PRESETS: Readonly<Record<string, (permission: Permission) => boolean>> = {
  "Nothing yet": () => false,
  "Send mail": (one) => ["transactional:send", "transactional:read", "templates:read"].includes(one),
  "Read everything": (one) => one.endsWith(":read"),
  "Contacts and campaigns": (one) => /^(contacts|lists|segments|campaigns|templates):/.test(one),
};

function KeyFields() {
  const [preset, choose] = useState("Nothing yet");
  const groups = Map.groupBy(PERMISSIONS, (permission) => permission.slice(0, permission.indexOf(":")));
  return (
    <>
      <Field label="What it is for">
        <input name="name" required maxLength={100} placeholder="shop" />
      </Field>
      <label class="check">
        <input type="checkbox" name="test" /> A test key: its mail is captured instead of sent
      </label>
      <Field label="Expires" hint="Empty for never.">
        <input name="expiresAt" type="datetime-local" />
      </Field>
      <Field label="May send from" hint="Addresses and domains, with commas between them. Empty for all senders.">
        <input name="senders" spellcheck={false} placeholder="receipts@acme.example" />
      </Field>
      <Field label="May be used from" hint="Networks, with commas between them. Empty for anywhere.">
        <input name="networks" spellcheck={false} placeholder="203.0.113.0/24" />
      </Field>
      <Field label="Begin with">
        <select value={preset} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {Object.keys(PRESETS).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
      <fieldset key={preset} class="permissions">
        <legend>Permissions</legend>
        {[...groups].map(([noun, permissions]) => (
          <div key={noun}>
            <span>{noun.replaceAll("_", " ")}</span>
            {permissions.map((permission) => (
              <label key={permission} class="check">
                <input
                  type="checkbox"
                  name="permission"
                  value={permission}
                  disabled={!may(permission)}
                  defaultChecked={PRESETS[preset]?.(permission)}
                />
                {permission.slice(noun.length + 1)}
              </label>
            ))}
          </div>
        ))}
      </fieldset>
    </>
  );
}
