/** @jsxImportSource preact */
import type { CampaignDetail, MailBlocks, Template } from "@mailsvc/sdk/contract";
import { useRef, useState } from "preact/hooks";
import { LazyBlockEditor } from "../blocks/lazy-block-editor.tsx";
import { ConfirmButton } from "../confirm-button.tsx";
import { Field } from "../field.tsx";
import { findMessages } from "../field-messages.ts";
import { isSendable } from "../templates/all.ts";
import type { CampaignDraft } from "./draft.ts";
import { bindText } from "./message-fields.tsx";
import { SourceText } from "./source-text.tsx";

interface Props {
  readonly draft: CampaignDraft;
  readonly templates: readonly Template[];
}

type Source = "blocks" | "template" | "html";

const NAMES: Readonly<Record<Source, string>> = { blocks: "Blocks", template: "A template", html: "HTML" };

/** Content of the mail: blocks, a template, or HTML and text of its own. */
export function ContentFields({ draft, templates }: Props) {
  const campaign = draft.fields.value;
  const { html, text, blocks } = campaign;
  // The choice of a person who has not written anything yet, or has removed all of it.
  const [wanted, want] = useState<Source>(() => findSource(campaign) ?? "blocks");
  const sendable = templates.filter((one) => one.version !== null && isSendable(one));
  const source = findSource(campaign) ?? wanted;
  // Keeps the person's own content while they try something else.
  const written = useRef<{ html: string | null; text: string | null; blocks: MailBlocks | null }>({ html: null, text: null, blocks: null });
  if (source === "html") written.current = { ...written.current, html, text };
  if (source === "blocks") written.current = { ...written.current, blocks };
  const choose = (to: Source): void => {
    want(to);
    if (to === "template") draft.set({ templateId: null, html: null, text: null, blocks: null });
    else if (to === "blocks") draft.set({ templateId: null, text: null, blocks: written.current.blocks ?? [] });
    else draft.set({ templateId: null, blocks: null, html: written.current.html, text: written.current.text });
  };
  // Blocks would take the place of what somebody has written.
  const isWritten = source === "html" && (html !== null || text !== null);
  // Blocks become HTML by a button of its own, which says that there is no way back.
  const offered = (["blocks", "template", "html"] as const).filter((one) => one !== "html" || source !== "blocks" || !blocks?.length);
  return (
    <section class="card form" aria-labelledby="content">
      <h2 id="content">Content</h2>
      <fieldset class="radios">
        <legend class="hidden">Where the content comes from</legend>
        {offered.map((one) => (
          <label key={one} class="check">
            <input
              type="radio"
              name="content"
              checked={one === source}
              disabled={(one === "template" && sendable.length === 0 && source !== "template") || (one === "blocks" && isWritten)}
              onChange={() => choose(one)}
            />{" "}
            {NAMES[one]}
          </label>
        ))}
      </fieldset>
      {sendable.length === 0 && source !== "template" ? <p class="hint soft">There is no published template to choose.</p> : null}
      {isWritten ? <p class="hint soft">Empty the HTML and the text to write in blocks instead.</p> : null}
      {source === "blocks" ? <BlocksContent draft={draft} switched={() => want("html")} /> : null}
      {source === "html" ? <HtmlContent draft={draft} /> : null}
      {source === "template" ? <TemplateChoice draft={draft} sendable={sendable} /> : null}
      {draft.error.value?.code === "template_error" ? (
        <p class="hint wrong" role="alert">
          {draft.error.value.message}
        </p>
      ) : null}
    </section>
  );
}

/** The source of a campaign's content; null while there is none. */
function findSource({ templateId, html, text, blocks }: CampaignDetail): Source | null {
  if (templateId !== null) return "template";
  if (blocks !== null) return "blocks";
  return html === null && text === null ? null : "html";
}

function BlocksContent({ draft, switched }: Pick<Props, "draft"> & { readonly switched: () => void }) {
  const { blocks } = draft.fields.value;
  const error = draft.error.value;
  const toHtml = async (): Promise<void> => {
    // The HTML is that of the blocks as they were saved last.
    if (!(await draft.flush())) throw new Error("Some fields are not saved yet: see what is wrong with them.");
    draft.set({ blocks: null });
    await draft.flush();
    switched();
  };
  return (
    <>
      <LazyBlockEditor
        blocks={blocks ?? []}
        messages={(path) => findMessages(error, path)}
        change={(next) => draft.set({ templateId: null, blocks: next })}
      />
      <PlainText draft={draft} madeFrom="blocks" />
      {blocks === null || blocks.length === 0 ? null : (
        <div class="buttons">
          <ConfirmButton label="Switch to HTML" question="Switch to HTML?" act={toHtml}>
            <p>The mail stays as it is now, and you go on with its HTML. It cannot become blocks again.</p>
          </ConfirmButton>
        </div>
      )}
    </>
  );
}

function HtmlContent({ draft }: Pick<Props, "draft">) {
  return (
    <>
      <SourceText
        label="HTML"
        value={draft.fields.value.html ?? ""}
        hint="Variables such as {{firstName}} and your custom fields are filled in. A link to unsubscribe is added where there is none."
        error={findMessages(draft.error.value, "html")}
        change={(html) => draft.set({ html: html || null })}
      />
      <PlainText draft={draft} madeFrom="HTML" />
    </>
  );
}

function PlainText({ draft, madeFrom }: Pick<Props, "draft"> & { readonly madeFrom: string }) {
  const { text } = draft.fields.value;
  return (
    <details open={text !== null}>
      <summary>Plain text{text === null ? `: made from the ${madeFrom}` : ""}</summary>
      <Field label="Text" hint={`Empty to make it from the ${madeFrom}.`} error={findMessages(draft.error.value, "text")}>
        <textarea {...bindText(draft, "text")} rows={8} />
      </Field>
    </details>
  );
}

function TemplateChoice({ draft, sendable }: { readonly draft: CampaignDraft; readonly sendable: readonly Template[] }) {
  const { templateId, template } = draft.fields.value;
  const isThere = sendable.some(({ id }) => id === templateId);
  return (
    <Field
      label="Template"
      hint="Its published version at the start of sending is sent."
      error={
        findMessages(draft.error.value, "templateId") ||
        (isThere || templateId === null ? undefined : "This template is gone, archived or not published. Choose another one.")
      }
    >
      <select value={templateId ?? ""} onChange={({ currentTarget }) => draft.set({ templateId: currentTarget.value || null })}>
        {isThere ? null : (
          <option value={templateId ?? ""}>{templateId === null ? "Choose a template" : (template?.name ?? "Deleted template")}</option>
        )}
        {sendable.map(({ id, name, version }) => (
          <option key={id} value={id}>
            {name}, version {version}
          </option>
        ))}
      </select>
    </Field>
  );
}
