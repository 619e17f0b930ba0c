/** @jsxImportSource preact */
import type { Template } from "@mailsvc/sdk/contract";
import { may } from "../../api/session.ts";
import { Field } from "../field.tsx";
import { formatReplyTo, parseReplyTo } from "../reply-to.ts";
import { isPart } from "./all.ts";
import type { Draft } from "./draft.ts";
import type { Editing } from "./editing.ts";

interface Props {
  readonly editing: Editing;
  /** All templates of the workspace, for the choice of a layout; null before they are known. */
  readonly all: readonly Template[] | null;
}

type Line = "name" | "slug" | "description" | "category" | "from" | "replyTo";

/** Name, sender and layout of a template. */
export function TemplateSettings({ editing: { base, draft, change, refused }, all }: Props) {
  const canWrite = may("templates:write");
  const isInOthers = isPart(base);
  const layouts = (all ?? []).filter(({ type, slug }) => type === "layout" && slug !== base.slug).map(({ slug }) => slug);
  const wrong = (name: keyof Draft): string | undefined => refused?.details.find(({ path }) => path === name)?.message;
  const line = (name: Line, label: string, hint?: string, example?: string) => (
    <Field label={label} hint={hint} error={wrong(name)}>
      <input
        value={name === "replyTo" ? formatReplyTo(draft.replyTo) : (draft[name] ?? "")}
        placeholder={example}
        readOnly={!canWrite}
        aria-invalid={wrong(name) !== undefined}
        spellcheck={name === "name" || name === "description"}
        onInput={({ currentTarget: { value } }) => change({ [name]: readLine(name, value) })}
      />
    </Field>
  );
  return (
    <div class="scroll">
      <div class="card form">
        {line("name", "Name")}
        {line("slug", "Slug", isInOthers ? `Other templates use it by {{> ${draft.slug}}}.` : "Programs send it by this name.")}
        {line("description", "Description")}
        {line("category", "Category", "To sort templates by.")}
        {isInOthers ? null : line("from", "From", "A send may name another sender.", "Acme <hello@acme.example>")}
        {isInOthers
          ? null
          : line("replyTo", "Reply-To", "An address, several with commas, or auto: then replies are received here.", "auto")}
        {isInOthers ? null : (
          <Field label="Layout" hint="What stands around the content." error={wrong("layout")}>
            <select
              value={draft.layout ?? ""}
              disabled={!canWrite}
              onChange={({ currentTarget }) => change({ layout: currentTarget.value || null })}
            >
              <option value="">none</option>
              {[...new Set([...layouts, ...(draft.layout === null ? [] : [draft.layout])])].map((slug) => (
                <option key={slug}>{slug}</option>
              ))}
            </select>
          </Field>
        )}
      </div>
    </div>
  );
}

/** Converts a line to its value. An empty line removes an optional field. */
function readLine(name: Line, value: string): string | string[] | null {
  if (value === "" && name !== "name" && name !== "slug") return null;
  return name === "replyTo" ? parseReplyTo(value) : value;
}
