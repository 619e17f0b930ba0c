/** @jsxImportSource preact */
import type { Sender } from "@mailsvc/sdk/contract";
import { useId } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { go } from "../../router.tsx";
import { Field } from "../field.tsx";
import { FormButton, type FormValues } from "../form-button.tsx";
import { readAll } from "../page-reader.ts";
import { useResource } from "../resource.ts";

/** Asks for what every campaign has, and opens its editor. */
export function NewCampaign() {
  const id = useId();
  const senders = useResource(
    async (signal) => (may("senders:read") ? readAll<Sender>((page) => api.senders.list({ ...page, status: "VERIFIED" }, { signal })) : []),
    [],
  );
  const addresses = (senders.data ?? []).map(({ kind, value }) => (kind === "address" ? value : `hello@${value}`));
  const create = async (values: FormValues): Promise<void> => {
    const { id: made } = await api.campaigns.create({
      name: values.text("name"),
      subjectLine: values.text("subjectLine"),
      fromEmail: values.text("fromEmail"),
    });
    go(`/campaigns/${made}/edit`);
  };
  return (
    <FormButton label="New campaign" title="New campaign" submit="Create the draft" primary act={create}>
      <Field label="Name" hint="For you and your colleagues.">
        <input name="name" required maxLength={200} autocomplete="off" placeholder="March news" />
      </Field>
      <Field label="Subject">
        <input name="subjectLine" required maxLength={998} autocomplete="off" placeholder="What is new in March" />
      </Field>
      <Field label="From" hint="An address of a verified sender.">
        <input name="fromEmail" type="email" required list={id} defaultValue={addresses[0] ?? ""} autocomplete="off" spellcheck={false} />
      </Field>
      <datalist id={id}>
        {addresses.map((address) => (
          <option key={address} value={address} />
        ))}
      </datalist>
    </FormButton>
  );
}
