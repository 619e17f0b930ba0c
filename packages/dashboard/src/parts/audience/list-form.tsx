/** @jsxImportSource preact */
import type { List, Sender } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { Field } from "../field.tsx";
import type { FormValues } from "../form-button.tsx";
import { readAll } from "../page-reader.ts";
import { useResource } from "../resource.ts";

/** The settings of a list in a form. */
export function ListFields({ list }: { readonly list?: List }) {
  const [doubleOptIn, setDoubleOptIn] = useState(list?.doubleOptIn ?? false);
  const senders = useResource(
    async (signal) => (may("senders:read") ? readAll<Sender>((page) => api.senders.list(page, { signal })) : []),
    [],
  );
  return (
    <>
      <Field label="Name">
        <input name="name" required maxLength={200} placeholder="Newsletter" defaultValue={list?.name ?? ""} autocomplete="off" />
      </Field>
      <Field label="Description" hint="For you and your colleagues.">
        <textarea name="description" rows={2} maxLength={1000} defaultValue={list?.description ?? ""} />
      </Field>
      <Field label="Language" hint="Of its confirmation email and pages, such as de or pt-BR. That of your brand if empty.">
        <input name="language" maxLength={35} defaultValue={list?.language ?? ""} autocomplete="off" spellcheck={false} />
      </Field>
      <label class="check">
        <input type="checkbox" name="public" defaultChecked={list?.public ?? true} />
        <span>
          Members see its name on their preference page
          <span class="hint soft block">They reach it by the unsubscribe link, and can leave the list there.</span>
        </span>
      </label>
      <label class="check">
        <input
          type="checkbox"
          name="doubleOptIn"
          checked={doubleOptIn}
          onChange={({ currentTarget }) => setDoubleOptIn(currentTarget.checked)}
        />
        <span>
          Double opt-in
          <span class="hint soft block">
            New people get an email with a link that works for 7 days, and become members once they confirm. Current members stay.
          </span>
        </span>
      </label>
      {doubleOptIn ? (
        <>
          <Field label="Confirmation email from" hint={<SenderHint senders={senders.data ?? []} />}>
            <input
              name="confirmationFrom"
              required
              placeholder="Acme <hello@acme.example>"
              defaultValue={list?.confirmationFrom ?? ""}
              autocomplete="off"
              spellcheck={false}
            />
          </Field>
          <Field label="Its subject" hint="Without one: Confirm your subscription to, and the name of the list.">
            <input name="confirmationSubject" maxLength={998} defaultValue={list?.confirmationSubject ?? ""} autocomplete="off" />
          </Field>
        </>
      ) : null}
    </>
  );
}

function SenderHint({ senders }: { readonly senders: readonly Sender[] }) {
  const verified = senders.filter(({ status }) => status === "VERIFIED").map(({ value }) => value);
  return <>{verified.length === 0 ? "Its address or domain must be a verified sender." : `Verified senders: ${verified.join(", ")}`}</>;
}

/** Reads a list form. */
export function readList(values: FormValues) {
  const doubleOptIn = values.has("doubleOptIn");
  return {
    name: values.text("name"),
    description: values.text("description") || null,
    language: values.text("language") || null,
    public: values.has("public"),
    doubleOptIn,
    ...(doubleOptIn && {
      confirmationFrom: values.text("confirmationFrom"),
      confirmationSubject: values.text("confirmationSubject") || null,
    }),
  };
}
