/** @jsxImportSource preact */
import type { LintReport } from "@mailsvc/sdk/contract";
import { useMemo, useState } from "preact/hooks";
import { may } from "../../api/session.ts";
import { CodeEditor } from "../editor/code-editor.tsx";
import { Field } from "../field.tsx";
import { HtmlPreview } from "../html-preview.tsx";
import { OldPreview } from "../old-preview.tsx";
import { Tabs } from "../tabs.tsx";
import { isPart } from "./all.ts";
import type { Editing } from "./editing.ts";
import { Faults } from "./faults.tsx";
import { type Fault, type Rendering, toFaults, useRendering } from "./rendering.ts";

interface Props {
  readonly editing: Editing;
  /** Lint report of the stored draft; null until known. */
  readonly report: LintReport | null;
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** The subject, HTML and text of a template, and next to them the mail they make. */
export function TemplateContent({ editing, report }: Props) {
  const { base, draft, edition, change, refused, samples } = editing;
  const { rendered, faults } = useRendering(base, draft, samples);
  const [chosen, choose] = useState<"html" | "text">("html");
  const [target, setTarget] = useState<Place | null>(null);
  // Whoever edits HTML that was rendered from files has decided to.
  const [unlocked, unlock] = useState(false);
  const locked = base.renderedFrom !== null && !unlocked;
  const readOnly = locked || !may("templates:write");
  const all = useMemo(() => joinFaults(faults, refused === null ? [] : toFaults(refused), report), [faults, refused, report]);
  const problems = (part: "html" | "text") =>
    all.flatMap(({ part: of, line, column, severity, message }) =>
      of === part && line !== null ? [{ severity, line, column: column ?? 1, message }] : [],
    );
  const [inHtml, inText] = useMemo(() => [problems("html"), problems("text")], [all]);
  const goTo = ({ part, line, column }: Fault): void => {
    choose(part === "text" ? "text" : "html");
    setTarget({ line: line ?? 1, column: column ?? 1 });
  };
  const isInOthers = isPart(base);
  return (
    <div class="template-editor">
      <div class="column">
        {isInOthers ? null : (
          <Field label="Subject" error={all.find(({ part, severity }) => part === "subject" && severity === "error")?.message}>
            <input
              value={draft.subject ?? ""}
              readOnly={!may("templates:write")}
              placeholder="Your order {{ number }} is on its way"
              onInput={({ currentTarget }) => change({ subject: currentTarget.value || null })}
            />
          </Field>
        )}
        {locked ? <Locked kind={base.renderedFrom?.kind ?? "mjml"} slug={base.slug} unlock={() => unlock(true)} /> : null}
        <Tabs
          label="The source"
          tabs={[
            { name: "html", label: "HTML" },
            { name: "text", label: draft.text === null ? "Text (from the HTML)" : "Text" },
          ]}
          chosen={chosen}
          choose={(name) => {
            setTarget(null);
            choose(name === "text" ? "text" : "html");
          }}
        >
          {chosen === "html" ? (
            <CodeEditor
              key="html"
              label="HTML of the template"
              text={draft.html ?? ""}
              edition={edition}
              readOnly={readOnly}
              problems={inHtml}
              target={target}
              change={(html) => change({ html: html || null })}
            />
          ) : (
            <CodeEditor
              key="text"
              label="Text of the template"
              text={draft.text ?? ""}
              edition={edition}
              readOnly={readOnly}
              problems={inText}
              target={target}
              change={(text) => change({ text: text || null })}
            />
          )}
        </Tabs>
        <section aria-label="Problems">
          <Faults faults={all} show={goTo} />
          {report?.rendered ? <p class="soft">Lines of lint are those of the rendered mail, with its layout and partials.</p> : null}
        </section>
      </div>
      <TemplatePreview rendering={{ rendered, faults }} isPart={isInOthers} />
    </div>
  );
}

/** The mail that the template makes; where it has an error, the last one that it made. */
export function TemplatePreview({ rendering: { rendered, faults }, isPart }: { readonly rendering: Rendering; readonly isPart: boolean }) {
  const [shown, show] = useState<"html" | "text">("html");
  return (
    <section class={`column preview-column ${faults.length > 0 ? "is-old" : ""}`} aria-label="Preview">
      <Tabs
        label="The preview"
        tabs={[
          { name: "html", label: "Preview" },
          { name: "text", label: "As text" },
        ]}
        chosen={shown}
        choose={(name) => show(name === "text" ? "text" : "html")}
      >
        {isPart ? null : <p class="preview-subject">{rendered?.subject ?? <span class="soft">(no subject)</span>}</p>}
        {rendered !== null && faults.length > 0 ? <OldPreview why={describeFault(faults)} /> : null}
        {rendered === null ? (
          <p class="soft">{faults.length > 0 ? "The template cannot be rendered yet." : "Rendering …"}</p>
        ) : shown === "html" ? (
          <HtmlPreview html={rendered.html ?? ""} />
        ) : (
          <pre class="text">{rendered.text}</pre>
        )}
        <Missing names={rendered?.missingVariables ?? []} />
      </Tabs>
    </section>
  );
}

/** Describes the fault that stops the preview. */
function describeFault([first]: readonly Fault[]): string {
  if (!first) return "";
  return first.line === null ? first.message : `Line ${first.line} of the ${first.part === "text" ? "text" : "HTML"}: ${first.message}`;
}

function Missing({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <p class="soft">
      {names.length === 1 ? "This variable has no value" : "These variables have no value"} in the preview:{" "}
      {names.map((name) => (
        <code key={name} class="tag">
          {name}
        </code>
      ))}
    </p>
  );
}

interface LockedProps {
  readonly kind: string;
  readonly slug: string;
  readonly unlock: () => void;
}

function Locked({ kind, slug, unlock }: LockedProps) {
  return (
    <div class="note">
      <p>
        This HTML is rendered from {kind === "mjml" ? "MJML" : "React Email"}. Change the files and run{" "}
        <code>mailsvc templates push {slug}</code>, or give the files up and edit the HTML.
      </p>
      {may("templates:write") ? (
        <button type="button" onClick={unlock}>
          Edit the HTML
        </button>
      ) : null}
    </div>
  );
}

/** Faults of the text as it is now stand first. Lint reports them too, for the text as it is stored: once is enough. */
function joinFaults(now: readonly Fault[], refused: readonly Fault[], report: LintReport | null): Fault[] {
  const seen = new Set(now.map(({ part, message }) => `${part} ${message}`));
  const others = refused.filter(({ line, part, message }) => line !== null && !seen.has(`${part} ${message}`));
  const found = (report?.findings ?? []).filter(({ rule }) => rule !== "template-syntax");
  const linted = found.map(({ severity, part, line, column, message, fix, rule }): Fault => {
    const place = report?.rendered && part === "html" ? { part: "rendered HTML", line: null, column: null } : { part, line, column };
    const where = report?.rendered && part === "html" && line !== null ? `Line ${line} of the rendered HTML: ${message}` : message;
    return { severity, message: where, fix, rule, ...place };
  });
  return [...now, ...others, ...linted];
}
