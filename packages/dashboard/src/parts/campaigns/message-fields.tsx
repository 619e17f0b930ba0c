/** @jsxImportSource preact */
import type { Sender, Template } from "@mailsvc/sdk/contract";
import { useId } from "preact/hooks";
import { Field } from "../field.tsx";
import { findMessages } from "../field-messages.ts";
import { formatReplyTo, parseReplyTo } from "../reply-to.ts";
import { AbTestFields, NEW_TEST } from "./ab-test-fields.tsx";
import type { CampaignDraft } from "./draft.ts";

type TextName = "name" | "subjectLine" | "previewText" | "fromEmail" | "fromName" | "replyTo" | "relay" | "html" | "text";

interface Props {
  readonly draft: CampaignDraft;
}

/** The attributes of an element for a text. An empty one removes a field that may be absent. */
export function bindText(draft: CampaignDraft, name: TextName, { required = false } = {}) {
  const isReplyTo = name === "replyTo";
  return {
    value: isReplyTo ? formatReplyTo(draft.fields.value.replyTo) : (draft.fields.value[name] ?? ""),
    "aria-invalid": findMessages(draft.error.value, name) !== "",
    onInput: ({ currentTarget: { value } }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      draft.set({ [name]: value === "" && !required ? null : isReplyTo ? parseReplyTo(value) : value }),
  };
}

/** Sender of the mail. */
export function SenderFields({ draft, senders }: Props & { readonly senders: readonly Sender[] }) {
  const id = useId();
  const error = draft.error.value;
  const verified = senders.filter(({ status }) => status === "VERIFIED");
  return (
    <section class="card form" aria-labelledby={`${id}-head`}>
      <h2 id={`${id}-head`}>Sender</h2>
      <div class="fields-row">
        <Field label="From name" error={findMessages(error, "fromName")}>
          <input {...bindText(draft, "fromName")} autocomplete="off" placeholder="Acme" maxLength={200} />
        </Field>
        <Field label="From address" error={findMessages(error, "fromEmail")}>
          <input {...bindText(draft, "fromEmail", { required: true })} type="email" list={id} autocomplete="off" spellcheck={false} />
        </Field>
      </div>
      <datalist id={id}>
        {verified.map((sender) => (
          <option key={sender.id} value={sender.kind === "address" ? sender.value : `hello@${sender.value}`} />
        ))}
      </datalist>
      <Field
        label="Replies go to"
        hint="Empty: where the template says, or the from address. Separate several by commas."
        error={findMessages(error, "replyTo")}
      >
        <input {...bindText(draft, "replyTo")} autocomplete="off" spellcheck={false} />
      </Field>
    </section>
  );
}

/** The subject, and other ones to try on a sample. */
export function SubjectFields({ draft, templates }: Props & { readonly templates: readonly Template[] }) {
  const error = draft.error.value;
  const { abTest } = draft.fields.value;
  return (
    <section class="card form" aria-label="Subject">
      <h2>Subject</h2>
      <Field label={abTest === null ? "Subject" : "Subject of variant A"} error={findMessages(error, "subjectLine")}>
        <input {...bindText(draft, "subjectLine", { required: true })} autocomplete="off" maxLength={998} />
      </Field>
      <Field
        label={abTest === null ? "Preview text" : "Preview text of variant A"}
        hint="Mail programs show it next to the subject."
        error={findMessages(error, "previewText")}
      >
        <input {...bindText(draft, "previewText")} autocomplete="off" maxLength={200} />
      </Field>
      {abTest === null ? (
        <div class="buttons">
          <button type="button" onClick={() => draft.set({ abTest: NEW_TEST })}>
            Test another subject or content
          </button>
        </div>
      ) : (
        <AbTestFields draft={draft} test={abTest} templates={templates} />
      )}
    </section>
  );
}
