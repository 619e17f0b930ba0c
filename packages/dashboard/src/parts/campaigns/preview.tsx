/** @jsxImportSource preact */
import type { CampaignDetail, VariantName } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { ContactPicker } from "../contact-picker.tsx";
import { Empty } from "../empty.tsx";
import { ErrorNote } from "../error-note.tsx";
import { LintFindings } from "../lint-findings.tsx";
import { Loaded } from "../loaded.tsx";
import { MailFrame } from "../mail-frame.tsx";
import { OldPreview } from "../old-preview.tsx";
import { useResource } from "../resource.ts";
import { Tabs } from "../tabs.tsx";
import { VARIANTS } from "./states.ts";

/** A campaign as a contact gets it, on a phone or a desktop, light or dark, and what mail programs and filters will dislike in it. */
export function CampaignPreview({ campaign, isOld = false }: { readonly campaign: CampaignDetail; readonly isOld?: boolean }) {
  const { id, updatedAt, abTest, html, text, templateId } = campaign;
  const [tab, setTab] = useState("html");
  const [contact, setContact] = useState("");
  const [variant, setVariant] = useState<VariantName>("A");
  const about = { ...(contact !== "" && { contact }), ...(abTest !== null && { variant }) };
  const isEmpty = html === null && text === null && templateId === null;
  const preview = useResource(
    async (signal) => (isEmpty ? null : api.campaigns.preview(id, about, { signal })),
    [id, updatedAt, contact, variant, isEmpty],
  );
  const { data, error } = preview;
  const shown = tab === "html" && data !== null && data.html === null ? "text" : tab;
  return (
    <section class="campaign-preview" aria-label="Preview">
      <div class="bar">
        <ContactPicker label="Show it as a contact gets it" hint="As a contact: ada@example.com" choose={setContact} />
        {abTest === null ? null : (
          <fieldset class="toggles">
            <legend class="hidden">Variant</legend>
            {VARIANTS.slice(0, abTest.variants.length).map((name) => (
              <button key={name} type="button" aria-pressed={name === variant} onClick={() => setVariant(name)}>
                {name}
              </button>
            ))}
          </fieldset>
        )}
      </div>
      {isEmpty ? (
        <Empty title="Nothing to see yet">
          <p>Add a block or choose a template: it is shown here as your readers will see it.</p>
        </Empty>
      ) : (
        <div class={isOld || (error !== null && data !== null) ? "campaign-preview is-old" : "campaign-preview"}>
          {isOld ? <OldPreview why="Some changes are not saved. See what is wrong with them." /> : null}
          {error === null ? null : <ErrorNote title="It cannot be shown like this" error={error} />}
          {data === null ? null : (
            <>
              <div class="envelope">
                <p class="subject">{data.subject}</p>
                <p class="soft">
                  {data.from}
                  {data.to === null ? "" : ` to ${data.to}`}
                </p>
              </div>
              <Tabs
                label="The mail"
                tabs={[
                  ...(data.html === null ? [] : [{ name: "html", label: "HTML" }]),
                  { name: "text", label: "Text" },
                  ...(may("templates:read") ? [{ name: "lint", label: "Problems" }] : []),
                ]}
                chosen={shown}
                choose={setTab}
              >
                {shown === "html" ? (
                  <MailFrame path={`campaigns/${encodeURIComponent(id)}`} html={data.html ?? ""} about={about} revision={updatedAt} />
                ) : null}
                {shown === "text" ? <pre class="text">{data.text}</pre> : null}
                {shown === "lint" ? <Lint subject={data.subject} html={data.html} text={data.text} /> : null}
              </Tabs>
            </>
          )}
        </div>
      )}
    </section>
  );
}

interface Mail {
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

function Lint(mail: Mail) {
  const report = useLint(mail);
  return <Loaded from={report}>{(data) => <LintFindings report={data} />}</Loaded>;
}

/** Runs lint on a mail to many people. */
export function useLint({ subject, html, text }: Mail) {
  return useResource(
    (signal) =>
      api.lint.check({ type: "marketing", ...(subject && { subject }), ...(html && { html }), ...(text && { text }) }, { signal }),
    [subject, html, text],
  );
}
