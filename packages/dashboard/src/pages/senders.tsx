/** @jsxImportSource preact */
import type { Sender } from "@mailsvc/sdk/contract";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import type { Column } from "../parts/data-table.tsx";
import { Field } from "../parts/field.tsx";
import { FormButton, type FormValues } from "../parts/form-button.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { go, toHref } from "../router.tsx";

const COLUMNS: readonly Column<Sender>[] = [
  { head: "Sender", width: "3 1 0", cell: ({ value }) => value },
  { head: "Kind", width: "0 0 6rem", wide: true, cell: ({ kind }) => <span class="soft">{kind}</span> },
  { head: "Relay", width: "1 1 0", wide: true, cell: ({ relay }) => <span class="soft">{relay ?? "default"}</span> },
  {
    head: "State",
    width: "0 0 8rem",
    cell: ({ status, failingSince }) => (
      <Status status={failingSince === null ? status : "FAILING"} text={failingSince === null ? status.toLowerCase() : "record missing"} />
    ),
  },
  { head: "Added", width: "0 0 6.5rem", wide: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Addresses and domains that mail may come from. */
export default function Senders() {
  const create = async (values: FormValues): Promise<void> => {
    const value = values.text("value");
    const { id } = await api.senders.create(value.includes("@") ? { email: value } : { domain: value });
    go(`/senders/${id}`);
  };
  return (
    <ListPage
      title="Senders"
      about="Addresses and domains that your mail comes from."
      actions={
        may("senders:write") ? (
          <FormButton label="Add a sender" title="Add a sender" submit="Add" primary act={create}>
            <Field label="Domain or address" hint="A domain stands for all of its addresses, and is verified by a DNS record.">
              <input name="value" required placeholder="acme.example" autocomplete="off" spellcheck={false} />
            </Field>
          </FormButton>
        ) : null
      }
      load={api.senders.list}
      columns={COLUMNS}
      href={({ id }) => toHref(`/senders/${id}`)}
      empty="No senders yet"
      start={<p>Mail leaves only from addresses and domains that are verified.</p>}
    />
  );
}
