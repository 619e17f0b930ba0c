/** @jsxImportSource preact */
import type { Webhook } from "@mailsvc/sdk/contract";
import { Field } from "./field.tsx";

/** The fields of a webhook in a form, with the values that it has. */
export function WebhookFields({ webhook }: { readonly webhook?: Webhook }) {
  return (
    <>
      <Field label="URL">
        <input name="url" type="url" required placeholder="https://shop.example.com/webhook" defaultValue={webhook?.url ?? ""} />
      </Field>
      <Field label="Events" hint="Types with commas between them; email.* is all of a kind, * is all.">
        <input name="events" placeholder="*" defaultValue={webhook?.events.join(", ") ?? ""} spellcheck={false} />
      </Field>
      <Field label="Description">
        <input name="description" maxLength={500} defaultValue={webhook?.description ?? ""} />
      </Field>
      <Field label="Alert" hint="Gets a mail when the webhook is disabled, after five days of failures.">
        <input name="alertEmail" type="email" placeholder="ops@acme.example" defaultValue={webhook?.alertEmail ?? ""} />
      </Field>
    </>
  );
}
