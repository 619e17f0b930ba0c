/** @jsxImportSource preact */
import type { SegmentRule } from "@mailsvc/sdk/contract";
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { CustomFieldsEditor } from "../audience/custom-fields.tsx";
import { Loading } from "../empty.tsx";
import { ErrorNote } from "../error-note.tsx";
import { Field as LabeledField } from "../field.tsx";
import { findMessages } from "../field-messages.ts";
import type { RuleEditor } from "../rules/rule-editor.tsx";
import { type Field, labelField, REFERENCES, setField, type Values } from "./fields.ts";
import { type Names, TRIGGERS } from "./words.ts";

interface FieldsProps {
  readonly fields: readonly Field[];
  readonly values: Values;
  readonly change: (values: Values) => void;
  /** Path of the fields in the definition, such as `steps[2]`. */
  readonly path: string;
  readonly error: RequestError | null;
  readonly names: Names;
  /** Called with whether something is typed that is no value yet. */
  readonly pend: (path: string, isPending: boolean) => void;
}

/** The fields of a step, or of a part of it. */
export function FieldInputs({ fields, values, change, ...rest }: FieldsProps) {
  return (
    <>
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          {...rest}
          field={field}
          path={`${rest.path}.${field.name}`}
          value={values[field.name]}
          set={(value) => change(setField(values, field, value))}
        />
      ))}
    </>
  );
}

interface InputProps extends Pick<FieldsProps, "path" | "error" | "names" | "pend"> {
  readonly field: Field;
  readonly value: unknown;
  readonly set: (value: unknown) => void;
}

function FieldInput(props: InputProps) {
  const { field, value, path, error } = props;
  const label = labelField(field.name);
  const wrong = findMessages(error, path);
  const fits = "fields" in field || field.kind === "oneOf" ? typeof (value ?? {}) === "object" : true;
  if (!fits) return <p class="hint wrong">{label} is changed as JSON.</p>;
  switch (field.kind) {
    case "flag":
      return (
        <label class="check">
          <input type="checkbox" checked={value === true} onChange={({ currentTarget }) => props.set(currentTarget.checked || undefined)} />{" "}
          {label}
        </label>
      );
    case "choices":
      return <Choices {...props} options={field.options} label={label} wrong={wrong} />;
    case "rule":
      return <RuleInput {...props} label={label} />;
    case "record":
      return <RecordInput {...props} label={label} wrong={wrong} />;
    case "object":
      return (
        <fieldset class="inner">
          <legend>{label}</legend>
          <FieldInputs {...props} fields={field.fields} values={(value ?? {}) as Values} change={props.set} />
        </fieldset>
      );
    case "rows":
      return <Rows {...props} field={field} label={label} wrong={wrong} />;
    case "oneOf":
      return <VariantInput {...props} label={label} variants={field.variants} />;
    default:
      return (
        <LabeledField label={label} hint={field.hint} error={wrong}>
          <Simple {...props} isWrong={wrong !== ""} />
        </LabeledField>
      );
  }
}

/** An element for a text, a number, a date, or one of several. */
function Simple({ field, value, set, names, path, pend, isWrong }: InputProps & { readonly isWrong: boolean }) {
  const text = value === undefined || value === null ? "" : String(value);
  const prefix = REFERENCES[field.name];
  const shared = { "aria-invalid": isWrong, value: text };
  if (prefix !== undefined) {
    const known = [...names].filter(([id]) => id.startsWith(prefix));
    return (
      <select {...shared} onChange={({ currentTarget }) => set(currentTarget.value)}>
        {known.some(([id]) => id === text) ? null : <option value={text}>{text === prefix || text === "" ? "Choose one…" : text}</option>}
        {known.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    );
  }
  if (field.kind === "choice")
    return (
      <select {...shared} onChange={({ currentTarget }) => set(currentTarget.value)}>
        {["", ...field.options].map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    );
  if (field.kind === "json") return <JsonInput value={value} set={set} path={path} pend={pend} />;
  if (field.kind === "number")
    return (
      <input
        {...shared}
        type="number"
        min={field.min}
        max={field.max}
        onInput={({ currentTarget }) => set(currentTarget.value === "" ? undefined : Number(currentTarget.value))}
      />
    );
  const typed = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void => set(currentTarget.value);
  if (field.kind === "date" || field.kind === "time") return <input {...shared} type={field.kind} onInput={typed} />;
  return <input {...shared} maxLength={field.kind === "text" ? field.max : undefined} autocomplete="off" onInput={typed} />;
}

/** Counts an input as complete once it is removed. */
function useForgetting({ path, pend }: Pick<InputProps, "path" | "pend">): void {
  useEffect(() => () => pend(path, false), [path]);
}

function RecordInput({ field, value, set, path, pend, label, wrong }: InputProps & { readonly label: string; readonly wrong: string }) {
  useForgetting({ path, pend });
  return (
    <Wrong text={wrong}>
      <CustomFieldsEditor
        legend={label}
        initial={(value ?? {}) as Values}
        change={(values) => {
          pend(path, values === null);
          if (values !== null) set(Object.keys(values).length === 0 && !field.required ? undefined : values);
        }}
      />
    </Wrong>
  );
}

function JsonInput({ value, set, path, pend }: Pick<InputProps, "value" | "set" | "path" | "pend">) {
  const [text, setText] = useState(value === undefined ? "" : JSON.stringify(value));
  useForgetting({ path, pend });
  const write = (next: string): void => {
    setText(next);
    try {
      set(next.trim() === "" ? undefined : JSON.parse(next));
      pend(path, false);
    } catch {
      pend(path, true);
    }
  };
  return <input value={text} spellcheck={false} autocomplete="off" onInput={({ currentTarget }) => write(currentTarget.value)} />;
}

function Choices({
  value,
  set,
  options,
  label,
  wrong,
}: Pick<InputProps, "value" | "set"> & { readonly options: readonly string[]; readonly label: string; readonly wrong: string }) {
  const chosen = Array.isArray(value) ? value : [];
  return (
    <Wrong text={wrong}>
      <fieldset class="radios">
        <legend>{label}</legend>
        {options.map((option) => (
          <label key={option} class="check">
            <input
              type="checkbox"
              checked={chosen.includes(option)}
              onChange={({ currentTarget: { checked } }) => set(options.filter((one) => (one === option ? checked : chosen.includes(one))))}
            />{" "}
            {labelField(option)}
          </label>
        ))}
      </fieldset>
    </Wrong>
  );
}

/** Objects in a row, such as the branches of a split. */
function Rows({
  field,
  value,
  set,
  label,
  wrong,
  path,
  ...rest
}: InputProps & { readonly field: Field & { kind: "rows" }; readonly label: string; readonly wrong: string }) {
  const rows = (Array.isArray(value) ? value : []) as readonly Values[];
  const { min = 0, max = Number.POSITIVE_INFINITY, fields } = field;
  const replace = (at: number, row: Values): void => set(rows.map((one, i) => (i === at ? row : one)));
  const add = (): void => {
    const last = rows.at(-1) ?? {};
    const name = String.fromCharCode(97 + (rows.length % 26));
    set([
      ...rows,
      { ...last, ...("name" in last && { name: rows.some((row) => row["name"] === name) ? `${name}${rows.length + 1}` : name }) },
    ]);
  };
  const isInside = rows.some((_, i) => findMessages(rest.error, `${path}[${i}]`) !== "");
  return (
    <Wrong text={isInside ? "" : wrong}>
      <fieldset class="inner">
        <legend>{label}</legend>
        {rows.map((row, i) => (
          <div key={i} class="fields-row three">
            <FieldInputs {...rest} fields={fields} values={row} change={(next) => replace(i, next)} path={`${path}[${i}]`} />
            <button type="button" disabled={rows.length <= min} onClick={() => set(rows.filter((_, other) => other !== i))}>
              Remove {String(row["name"] ?? i + 1)}
            </button>
          </div>
        ))}
        <button type="button" disabled={rows.length >= max} onClick={add}>
          Add a branch
        </button>
      </fieldset>
    </Wrong>
  );
}

interface VariantProps extends Omit<InputProps, "field"> {
  readonly label: string;
  readonly variants: Readonly<Record<string, readonly Field[]>>;
  /** Name of the choice "none"; without it a value is required. */
  readonly none?: string;
}

/** Something that happens: what kind it is, and what the kind needs. */
export function VariantInput({ label, variants, none, value, set, ...rest }: VariantProps) {
  const values = (value ?? {}) as Values;
  const type = String(values["type"] ?? "");
  const choose = (next: string): void => {
    const names = new Set(variants[next]?.map(({ name }) => name));
    // Keeps the fields that both kinds have.
    set(next === "" ? null : { type: next, ...Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name))) });
  };
  return (
    <>
      <LabeledField label={label} error={findMessages(rest.error, `${rest.path}.type`)}>
        <select value={type} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {none === undefined ? null : <option value="">{none}</option>}
          {Object.keys(variants).map((one) => (
            <option key={one} value={one}>
              {TRIGGERS[one as keyof typeof TRIGGERS] ?? one}
            </option>
          ))}
        </select>
      </LabeledField>
      {type === "" ? null : <FieldInputs key={type} {...rest} fields={variants[type] ?? []} values={values} change={set} />}
    </>
  );
}

/** A rule about contacts, made by hand. Its editor is loaded when the first one is shown. */
function RuleInput({ value, set, path, pend, error, label }: InputProps & { readonly label: string }) {
  const [Editor, setEditor] = useState<ComponentType<Parameters<typeof RuleEditor>[0]> | null>(null);
  const [failed, setFailed] = useState<RequestError | null>(null);
  useForgetting({ path, pend });
  useEffect(() => {
    import("../rules/rule-editor.tsx").then(
      ({ RuleEditor: loaded }) => setEditor(() => loaded),
      (cause: unknown) => setFailed(asRequestError(cause)),
    );
  }, []);
  const own = error?.details.filter(({ path: at }) => at.startsWith(path)) ?? [];
  if (failed !== null) return <ErrorNote title="The editor of conditions could not be loaded" error={failed} />;
  if (Editor === null) return <Loading />;
  return (
    <fieldset class="inner">
      <legend>{label}</legend>
      <Editor
        rule={value as SegmentRule}
        change={(rule) => {
          pend(path, rule === null);
          if (rule !== null) set(rule);
        }}
        refused={own.length === 0 || error === null ? null : placeInRule(error, path)}
      />
    </fieldset>
  );
}

/** An error about a rule inside of a step, as if it were about the rule alone. */
function placeInRule({ code, message, status, details }: RequestError, path: string): RequestError {
  const inside = details
    .filter(({ path: at }) => at.startsWith(path))
    .map((one) => ({ ...one, path: `rules${one.path.slice(path.length)}` }));
  return asRequestError({ code, message, status, details: inside });
}

function Wrong({ text, children }: { readonly text: string; readonly children: ComponentChildren }) {
  return (
    <div class="stack">
      {children}
      {text === "" ? null : (
        <p class="hint wrong" role="alert">
          {text}
        </p>
      )}
    </div>
  );
}
