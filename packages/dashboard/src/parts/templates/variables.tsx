/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { may } from "../../api/session.ts";
import { Empty } from "../empty.tsx";
import type { Declaration, Variable } from "./draft.ts";
import type { Editing } from "./editing.ts";
import { useRendering } from "./rendering.ts";

const TYPES: readonly Variable["type"][] = ["string", "number", "boolean", "date", "array", "object", "html"];

/** The variables of a template: what is declared of them, and the values that the preview and tests use. */
export function TemplateVariables({ editing }: { readonly editing: Editing }) {
  const { base, draft, change, samples, setSamples } = editing;
  const { rendered } = useRendering(base, draft, samples);
  const found = rendered?.variables ?? base.variables;
  const declared = draft.variables;
  const names = [...new Set([...declared.map(({ name }) => name), ...found.map(({ name }) => name)])];
  const roots = [...new Set(names.map(toRoot))];
  if (names.length === 0)
    return (
      <Empty title="No variables yet">
        <p>
          Write <code>{"{{ name }}"}</code> into the subject, the HTML or the text.
        </p>
      </Empty>
    );
  const declare = (name: string, fields: Partial<Declaration>): void => {
    const known = declared.find((one) => one.name === name);
    const next = { ...(known ?? { name }), ...fields };
    change({ variables: known ? declared.map((one) => (one === known ? next : one)) : [...declared, next] });
  };
  const forget = (name: string): void => change({ variables: declared.filter((one) => one.name !== name) });
  return (
    <div class="scroll wide-scroll">
      <section class="card">
        <h2>Declared</h2>
        <p class="soft">A send without a required variable is refused. What is not declared is inferred from the template.</p>
        <div class="variable-table" role="table" aria-label="Variables">
          <div role="row" class="head">
            {["Name", "Type", "Required", "Default", "Description", ""].map((head) => (
              <span key={head} role="columnheader">
                {head || <span class="hidden">Actions</span>}
              </span>
            ))}
          </div>
          {names.map((name) => {
            const declaration = declared.find((one) => one.name === name);
            const inferred = found.find((one) => one.name === name);
            return (
              <Row
                key={name}
                name={name}
                declaration={declaration}
                inferred={inferred}
                declare={(fields) => declare(name, fields)}
                forget={() => forget(name)}
              />
            );
          })}
        </div>
      </section>
      <section class="card stack">
        <h2>Values of the preview and of tests</h2>
        <p class="soft">They are kept in this browser, and no send uses them.</p>
        <div class="form">
          {roots.map((root) => (
            <Sample
              key={root}
              root={root}
              variables={found.filter(({ name }) => toRoot(name) === root)}
              value={samples[root]}
              set={(value) => {
                const { [root]: _, ...others } = samples;
                setSamples(value === undefined ? others : { ...others, [root]: value });
              }}
            />
          ))}
        </div>
      </section>
    </div>
  );
}

interface RowProps {
  readonly name: string;
  readonly declaration: Declaration | undefined;
  readonly inferred: Variable | undefined;
  readonly declare: (fields: Partial<Declaration>) => void;
  readonly forget: () => void;
}

function Row({ name, declaration, inferred, declare, forget }: RowProps) {
  const canWrite = may("templates:write");
  const type = declaration?.type ?? inferred?.type ?? "string";
  const required = declaration?.required ?? inferred?.required ?? false;
  return (
    <div role="row">
      <span role="cell">
        <code>{name}</code> {declaration ? null : <span class="soft">inferred</span>}
        {declaration && !inferred ? <span class="status warn">not used</span> : null}
      </span>
      <span role="cell">
        <select
          aria-label={`Type of ${name}`}
          value={type}
          disabled={!canWrite}
          onChange={({ currentTarget }) => declare({ type: currentTarget.value as Variable["type"] })}
        >
          {TYPES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </span>
      <span role="cell">
        <label class="check">
          <input
            type="checkbox"
            aria-label={`${name} is required`}
            checked={required}
            disabled={!canWrite}
            onChange={({ currentTarget }) => declare({ required: currentTarget.checked })}
          />
          <span class="on-phones">required</span>
        </label>
      </span>
      <span role="cell">
        <Value
          label={`Default of ${name}`}
          type={type}
          value={declaration?.default}
          example="Default"
          readOnly={!canWrite}
          set={(value) => declare({ default: value })}
        />
      </span>
      <span role="cell">
        <input
          aria-label={`Description of ${name}`}
          placeholder="Description"
          value={declaration?.description ?? ""}
          readOnly={!canWrite}
          onInput={({ currentTarget }) => declare({ description: currentTarget.value || undefined })}
        />
      </span>
      <span role="cell">
        {declaration && canWrite ? (
          <button type="button" class="quiet" aria-label={`Remove the declaration of ${name}`} onClick={forget}>
            Remove
          </button>
        ) : null}
      </span>
    </div>
  );
}

interface SampleProps {
  readonly root: string;
  readonly variables: readonly Variable[];
  readonly value: unknown;
  readonly set: (value: unknown) => void;
}

/** The value of a variable in the preview. One with fields is written as JSON. */
function Sample({ root, variables, value, set }: SampleProps) {
  const own = variables.find(({ name }) => name === root);
  const type = variables.length > (own ? 1 : 0) && own?.type !== "array" ? "object" : (own?.type ?? "string");
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: The element to fill in is Value.
    <label class="field">
      {root}
      <Value label={`Value of ${root}`} type={type} value={value} example={buildExample(root, type, variables)} set={set} />
    </label>
  );
}

interface ValueProps {
  readonly label: string;
  readonly type: Variable["type"];
  readonly value: unknown;
  readonly example?: string;
  readonly readOnly?: boolean;
  /** Undefined for no value. */
  readonly set: (value: unknown) => void;
}

/** Input for a value of a type. Text that is not a value yet, such as unfinished JSON, is kept in the field and marked. */
function Value({ label, type, value, example, readOnly = false, set }: ValueProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? write(type, value);
  const isWrong = typed !== null && typed !== "" && parse(type, typed) === undefined;
  if (type === "boolean")
    return (
      <select
        aria-label={label}
        value={value === undefined ? "" : String(value)}
        disabled={readOnly}
        onChange={({ currentTarget }) => set(currentTarget.value === "" ? undefined : currentTarget.value === "true")}
      >
        <option value="">none</option>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    );
  const take = (next: string): void => {
    setTyped(next);
    if (next === "") set(undefined);
    else {
      const parsed = parse(type, next);
      if (parsed !== undefined) set(parsed);
    }
  };
  const shared = { "aria-label": label, "aria-invalid": isWrong, placeholder: example, readOnly, value: text };
  if (type === "array" || type === "object")
    return (
      <>
        <textarea
          {...shared}
          class="json"
          rows={
            example === undefined || example === "Default"
              ? 1
              : Math.min(12, Math.max(3, Math.max(text.split("\n").length, example.split("\n").length)))
          }
          spellcheck={false}
          onInput={({ currentTarget }) => take(currentTarget.value)}
          onBlur={() => isWrong || setTyped(null)}
        />
        {isWrong ? (
          <NoValue what={type === "array" ? "a list in JSON, such as [1, 2]" : 'an object in JSON, such as {"name": "Ada"}'} />
        ) : null}
      </>
    );
  return (
    <>
      <input
        {...shared}
        inputMode={type === "number" ? "decimal" : "text"}
        onInput={({ currentTarget }) => take(currentTarget.value)}
        onBlur={() => isWrong || setTyped(null)}
      />
      {isWrong ? <NoValue what="a number" /> : null}
    </>
  );
}

/** Says that a text is no value of its type, which leaves the one before. */
function NoValue({ what }: { readonly what: string }) {
  return (
    <span class="hint wrong" role="alert">
      This is not {what}. It is not used.
    </span>
  );
}

function write(type: Variable["type"], value: unknown): string {
  if (value === undefined) return "";
  return type === "array" || type === "object" ? JSON.stringify(value, null, 2) : String(value);
}

/** Undefined when the text is no value of the type. */
function parse(type: Variable["type"], text: string): unknown {
  if (type === "number") return Number.isFinite(Number(text)) ? Number(text) : undefined;
  if (type !== "array" && type !== "object") return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && Array.isArray(value) === (type === "array") ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The variable at the top of a name: `items` of `items[].price`. */
function toRoot(name: string): string {
  return name.split(/[.[]/)[0] ?? name;
}

const EXAMPLES: Readonly<Record<Variable["type"], unknown>> = {
  string: "text",
  number: 1,
  boolean: true,
  date: "2026-01-31",
  array: ["text"],
  object: {},
  html: "<b>text</b>",
};

/** Returns a sample value; for an object, with the fields that the template uses. */
function buildExample(root: string, type: Variable["type"], variables: readonly Variable[]): string {
  if (type !== "object" && type !== "array") return type === "date" ? "2026-01-31" : "";
  const fields: Record<string, unknown> = {};
  for (const { name, type: of } of variables) {
    const path = name.slice(root.length).replace(/^(?:\[\])?\./, "");
    if (path !== "" && !/[.[]/.test(path)) fields[path] = EXAMPLES[of];
  }
  const one = Object.keys(fields).length === 0 ? EXAMPLES[type] : type === "array" ? [fields] : fields;
  return JSON.stringify(one, null, 2);
}
