/** @jsxImportSource preact */
import type { Contact } from "@mailsvc/sdk/contract";
import { CONTACT_LIMITS, CONTACT_TEXT_FIELDS, CONTACT_TEXTS, EXTERNAL_ID_LIMIT, labelContactText } from "@mailsvc/sdk/contract/facts";
import { useState } from "preact/hooks";
import { Field } from "../field.tsx";
import type { FormValues } from "../form-button.tsx";
import { Tokens } from "../tokens.tsx";
import { CustomFieldsEditor, readCustomFields } from "./custom-fields.tsx";

/** The fields of a contact in a form; the address only of a new one, because a contact keeps its address. */
export function ContactFields({ contact }: { readonly contact?: Contact }) {
  const [tags, setTags] = useState<readonly string[]>(contact?.tags ?? []);
  return (
    <>
      {contact ? null : (
        <Field label="Email address">
          <input name="email" type="email" required placeholder="ada@example.com" autocomplete="off" spellcheck={false} />
        </Field>
      )}
      {CONTACT_TEXT_FIELDS.map((field) => (
        <Field key={field} label={labelContactText(field)}>
          <input
            name={field}
            inputMode={CONTACT_TEXTS[field].input}
            maxLength={CONTACT_TEXTS[field].maxLength}
            autocomplete="off"
            defaultValue={contact?.[field] ?? ""}
          />
        </Field>
      ))}
      <div class="field">
        Tags
        <Tokens label="Tags" placeholder="vip, beta" values={tags} change={setTags} maxLength={CONTACT_LIMITS.tag} />
        {tags.map((tag) => (
          <input key={tag} type="hidden" name="tags" value={tag} />
        ))}
      </div>
      <Field label="Your own id">
        <input
          name="externalId"
          maxLength={EXTERNAL_ID_LIMIT}
          placeholder="user_1042"
          autocomplete="off"
          spellcheck={false}
          defaultValue={contact?.externalId ?? ""}
        />
      </Field>
      <CustomFieldsEditor name="customFields" initial={contact?.customFields ?? {}} />
    </>
  );
}

/** Reads a contact form. With `before`, emptied fields are null. Throws RequestError. */
export function readContact(values: FormValues, before?: Contact) {
  return {
    externalId: values.text("externalId") || null,
    ...Object.fromEntries(CONTACT_TEXT_FIELDS.map((field) => [field, values.text(field) || null])),
    tags: values.all("tags"),
    customFields: readCustomFields(values.text("customFields"), before?.customFields) as Record<string, never>,
  };
}
