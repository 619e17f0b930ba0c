/** @jsxImportSource preact */
import type { Webhook } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import type { Column } from "../parts/data-table.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { SecretOnce } from "../parts/secret-once.tsx";
import { splitList } from "../parts/split-list.ts";
import { WebhookState } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { WebhookFields } from "../parts/webhook-fields.tsx";
import { toHref } from "../router.tsx";

const COLUMNS: readonly Column<Webhook>[] = [
  { head: "URL", width: "3 1 0", cell: ({ url }) => url },
  { head: "Events", width: "2 1 0", wide: true, cell: ({ events }) => <span class="soft">{events.join(", ")}</span> },
  {
    head: "State",
    width: "0 0 7rem",
    cell: (webhook) => <WebhookState webhook={webhook} />,
  },
  { head: "Changed", width: "0 0 6.5rem", wide: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

/** The webhooks of the workspace. */
export default function Webhooks() {
  const [secret, setSecret] = useState<string | null>(null);
  const create =
    (refresh: () => void) =>
    async (values: FormValues): Promise<void> => {
      const events = splitList(values.text("events"));
      const made = await api.webhooks.create({
        url: values.text("url"),
        ...(events.length > 0 && { events }),
        ...values.filled("description", "alertEmail"),
      });
      setSecret(made.secret);
      refresh();
    };
  return (
    <ListPage
      title="Webhooks"
      about="Requests to your programs when something happens."
      actions={(refresh) =>
        may("webhooks:write") ? (
          <FormButton label="Add a webhook" title="Add a webhook" submit="Add" primary act={create(refresh)}>
            <WebhookFields />
          </FormButton>
        ) : null
      }
      load={api.webhooks.list}
      live={({ type }) => type.startsWith("webhook.")}
      columns={COLUMNS}
      href={({ id }) => toHref(`/webhooks/${id}`)}
      empty="No webhooks yet"
      start={<p>A webhook gets a signed request for each event that it wants, again and again until your program has answered.</p>}
    >
      {secret === null ? null : <SecretOnce what="The secret that signs its requests" secret={secret} done={() => setSecret(null)} />}
    </ListPage>
  );
}
