/** @jsxImportSource preact */
import type { LintReport } from "@mailsvc/sdk/contract";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { LazyBlockEditor } from "../blocks/lazy-block-editor.tsx";
import { ConfirmButton } from "../confirm-button.tsx";
import { Field } from "../field.tsx";
import { findMessages } from "../field-messages.ts";
import { toast } from "../toast.tsx";
import { TemplatePreview } from "./content.tsx";
import type { Editing } from "./editing.ts";
import { Faults } from "./faults.tsx";
import { useRendering } from "./rendering.ts";

interface Props {
  readonly editing: Editing;
  /** Lint report of the stored draft; null until known. */
  readonly report: LintReport | null;
}

/** The subject and the blocks of a template, and next to them the mail they make. */
export function TemplateBlocks({ editing, report }: Props) {
  const { base, draft, change, refused, samples } = editing;
  const { rendered, faults } = useRendering(base, draft, samples);
  const own = base.variables.map(({ name }) => ({ name, label: name }));
  const isReadOnly = !may("templates:write");
  const messages = (path: string): string =>
    findMessages(refused, path) ||
    faults
      .flatMap(({ part, message }) => (part === path || part.startsWith(`${path}.`) || part.startsWith(`${path}[`) ? [message] : []))
      .join(" ");
  const lint = (report?.findings ?? []).map(({ severity, part, message, fix, rule }) => ({
    severity,
    part,
    message,
    fix,
    rule,
    line: null,
    column: null,
  }));
  return (
    <div class="template-editor">
      <div class="column">
        <Field label="Subject" error={faults.find(({ part }) => part === "subject")?.message}>
          <input
            value={draft.subject ?? ""}
            readOnly={isReadOnly}
            onInput={({ currentTarget }) => change({ subject: currentTarget.value || null })}
          />
        </Field>
        <LazyBlockEditor
          blocks={draft.blocks ?? []}
          own={own}
          isReadOnly={isReadOnly}
          messages={messages}
          change={(blocks) => change({ blocks })}
        />
        <section aria-label="Problems">
          <Faults faults={[...faults.filter(({ part }) => !part.startsWith("blocks")), ...lint]} show={() => {}} />
        </section>
        {isReadOnly || draft.blocks === null ? null : <SwitchToHtml editing={editing} />}
      </div>
      <TemplatePreview rendering={{ rendered, faults }} isPart={false} />
    </div>
  );
}

function SwitchToHtml({ editing: { base, isChanged, replace } }: Pick<Props, "editing">) {
  const act = async (): Promise<void> => {
    if (isChanged) throw new Error("Save your changes first.");
    replace(await api.templates.update(base.id, { kind: "HTML", revision: base.revision }));
    toast("The template is HTML now.");
  };
  return (
    <div class="buttons">
      <ConfirmButton label="Switch to HTML" question="Switch to HTML?" act={act}>
        <p>The mail stays as it is now, and you go on with its HTML. It cannot become blocks again.</p>
      </ConfirmButton>
    </div>
  );
}
