/** @jsxImportSource preact */
import type { SignUpForm } from "@mailsvc/sdk/contract";
import { Field } from "../field.tsx";
import type { FormValues } from "../form-button.tsx";
import { toOptions, useGroups } from "./groups.ts";

type Asked = SignUpForm["fields"][number];

const ASKED: Readonly<Record<Asked, string>> = { firstName: "First name", lastName: "Last name", phone: "Phone" };

/** The fields of a sign-up form, new or as it is. */
export function SignUpFields({ form }: { readonly form?: SignUpForm }) {
  const lists = toOptions(useGroups().data?.lists ?? []);
  return (
    <>
      <Field label="Name" hint="Also the heading of its page.">
        <input name="name" required maxLength={200} defaultValue={form?.name ?? ""} placeholder="Newsletter of Acme" />
      </Field>
      <Field label="List">
        <select name="listId" required>
          <option value="">Choose a list</option>
          {lists.map(({ value, text }) => (
            <option key={value} value={value} selected={value === form?.listId}>
              {text}
            </option>
          ))}
        </select>
      </Field>
      <fieldset class="scopes">
        <legend>Asks for, besides the address</legend>
        {Object.entries(ASKED).map(([name, text]) => (
          <label key={name} class="check">
            <input type="checkbox" name="fields" value={name} defaultChecked={form?.fields.includes(name as Asked) ?? false} />
            <span>{text}</span>
          </label>
        ))}
      </fieldset>
      <Field label="Button" hint="“Sign up” if empty.">
        <input name="button" maxLength={60} defaultValue={form?.button ?? ""} />
      </Field>
      <Field label="People agree to" hint="Stored with each sign-up. A sentence with the name of your brand if empty.">
        <textarea name="consentText" rows={2} maxLength={1000} defaultValue={form?.consentText ?? ""} />
      </Field>
      <label class="check">
        <input type="checkbox" name="consentCheckbox" defaultChecked={form?.consentCheckbox ?? false} />
        <span>They tick a box beside it</span>
      </label>
      <label class="check">
        <input type="checkbox" name="doubleOptIn" defaultChecked={form?.doubleOptIn ?? true} />
        <span>Each person confirms by email first</span>
      </label>
      <Field
        label="Page that follows"
        hint="An address of yours, such as https://acme.example/thanks. Empty for a page that says thank you."
      >
        <input name="redirectUrl" type="url" maxLength={2048} spellcheck={false} defaultValue={form?.redirectUrl ?? ""} />
      </Field>
    </>
  );
}

/** The settings of a form as they are filled in; null for texts that are left empty. */
export function readForm(values: FormValues) {
  return {
    name: values.text("name"),
    listId: values.text("listId"),
    button: values.text("button") || null,
    consentText: values.text("consentText") || null,
    fields: values.all("fields") as Asked[],
    consentCheckbox: values.has("consentCheckbox"),
    doubleOptIn: values.has("doubleOptIn"),
    redirectUrl: values.text("redirectUrl") || null,
  };
}
