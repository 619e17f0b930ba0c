/** @jsxImportSource preact */
import type { Workspace } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { session } from "../api/session.ts";
import { loadSession } from "../api/sign-in.ts";
import type { Column } from "../parts/data-table.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { SecretOnce } from "../parts/secret-once.tsx";
import { Time } from "../parts/time.tsx";

/** The workspaces of the server. */
export default function Workspaces() {
  const [secret, setSecret] = useState<string | null>(null);
  const changed = (refresh: () => void) => async (): Promise<void> => {
    refresh();
    await loadSession(session.peek()?.workspace.id ?? null);
  };
  const create =
    (refresh: () => void) =>
    async (values: FormValues): Promise<void> => {
      setSecret((await api.workspaces.create({ name: values.text("name") })).apiKey);
      await changed(refresh)();
    };
  return (
    <ListPage
      title="Workspaces"
      about="Each workspace has its own keys, senders, contacts and mail, which no other workspace can see."
      actions={(refresh) => (
        <FormButton label="Create a workspace" title="Create a workspace" submit="Create" primary act={create(refresh)}>
          <Field label="Who it belongs to">
            <input name="name" required maxLength={100} placeholder="Acme" />
          </Field>
        </FormButton>
      )}
      load={api.workspaces.list}
      columns={(refresh) => listColumns(changed(refresh))}
      empty="No workspaces"
    >
      {secret === null ? null : <SecretOnce what="The owner key of the new workspace" secret={secret} done={() => setSecret(null)} />}
    </ListPage>
  );
}

function listColumns(changed: () => Promise<void>): readonly Column<Workspace>[] {
  return [
    { head: "Name", width: "2 1 0", cell: ({ name }) => <strong>{name}</strong> },
    { head: "Id", width: "0 0 17rem", wide: true, cell: ({ id }) => <code>{id}</code> },
    { head: "Relay", width: "1 1 0", wide: true, cell: ({ relay }) => <span class="soft">{relay ?? "default"}</span> },
    { head: "Replies", width: "0 0 6rem", wide: true, cell: ({ replies }) => <span class="soft">{replies ? "received" : "–"}</span> },
    { head: "Created", width: "0 0 6.5rem", wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { head: "Action", width: "0 0 6rem", cell: (workspace) => <Change workspace={workspace} changed={changed} /> },
  ];
}

function Change({
  workspace: { id, name, relay, replies },
  changed,
}: {
  readonly workspace: Workspace;
  readonly changed: () => Promise<void>;
}) {
  const act = async (values: FormValues): Promise<void> => {
    const read = (from: FormValues) => ({ name: from.text("name"), relay: from.text("relay") || null, replies: from.has("replies") });
    await api.workspaces.update(id, values.changes(read));
    await changed();
  };
  return (
    <FormButton label="Change" title={`Change ${name}`} submit="Save" act={act}>
      <Field label="Name">
        <input name="name" required defaultValue={name} />
      </Field>
      <Field label="Relay" hint="Empty for the default of the server.">
        <input name="relay" defaultValue={relay ?? ""} spellcheck={false} />
      </Field>
      <label class="check">
        <input type="checkbox" name="replies" defaultChecked={replies} /> Receive the replies to all of its mail
      </label>
    </FormButton>
  );
}
