/** @jsxImportSource preact */
import type { Contact } from "@mailsvc/sdk/contract";
import { CONTACT_LIMITS } from "@mailsvc/sdk/contract/facts";
import { useEffect, useRef, useState } from "preact/hooks";
import { RequestError } from "../../api/request-error.ts";

type CustomFields = Contact["customFields"];

const TYPES = { text: "Text", number: "Number", boolean: "Yes or no", date: "Date", json: "JSON" } as const;
type Type = keyof typeof TYPES;

interface Row {
  readonly id: number;
  readonly name: string;
  readonly type: Type;
  readonly text: string;
}

const DATE = /^\d{4}-\d\d-\d\d$/;

interface Props {
  /** The field of the form that has them as JSON: see `readCustomFields`. */
  readonly name?: string;
  readonly initial: CustomFields;
  readonly legend?: string;
  /** Called with each change: null while a field is not complete. */
  readonly change?: (fields: CustomFields | null) => void;
}

/** Names, types and values, such as the custom fields of a contact. */
export function CustomFieldsEditor({ name, initial, legend = "Custom fields", change }: Props) {
  const [rows, setRows] = useState<readonly Row[]>(() =>
    Object.entries(initial).map(([field, value], id) => ({ id, name: field, ...toText(value) })),
  );
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) change?.(readRows(rows));
    isFirst.current = false;
  }, [rows]);
  const set = (id: number, change: Partial<Row>): void => setRows((all) => all.map((row) => (row.id === id ? { ...row, ...change } : row)));
  const add = (): void => setRows((all) => [...all, { id: (all.at(-1)?.id ?? 0) + 1, name: "", type: "text", text: "" }]);
  return (
    <fieldset class="custom-fields">
      <legend>{legend}</legend>
      {name === undefined ? null : <input type="hidden" name={name} value={JSON.stringify(rows)} />}
      {rows.map((row) => (
        <div key={row.id} class="custom-field">
          <input
            aria-label="Name of the field"
            placeholder="plan"
            required
            maxLength={CONTACT_LIMITS.customKey}
            value={row.name}
            spellcheck={false}
            onInput={({ currentTarget }) => set(row.id, { name: currentTarget.value })}
          />
          <select
            aria-label={`Type of ${row.name || "the field"}`}
            value={row.type}
            onChange={({ currentTarget }) => set(row.id, { type: currentTarget.value as Type })}
          >
            {Object.entries(TYPES).map(([type, text]) => (
              <option key={type} value={type}>
                {text}
              </option>
            ))}
          </select>
          <Value row={row} set={(text) => set(row.id, { text })} />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${row.name || "the field"}`}
            onClick={() => setRows((all) => all.filter(({ id }) => id !== row.id))}
          >
            ×
          </button>
        </div>
      ))}
      <button type="button" class="quiet" onClick={add}>
        Add a field
      </button>
    </fieldset>
  );
}

function Value({ row: { name, type, text }, set }: { readonly row: Row; readonly set: (text: string) => void }) {
  const label = `Value of ${name || "the field"}`;
  if (type === "boolean")
    return (
      <select aria-label={label} value={text === "true" ? "true" : "false"} onChange={({ currentTarget }) => set(currentTarget.value)}>
        <option value="true">yes</option>
        <option value="false">no</option>
      </select>
    );
  if (type === "date")
    return <input type="date" aria-label={label} required value={text} onInput={({ currentTarget }) => set(currentTarget.value)} />;
  return (
    <input
      aria-label={label}
      {...(type === "number" && { inputMode: "decimal" as const })}
      required={type !== "text"}
      value={text}
      spellcheck={false}
      onInput={({ currentTarget }) => set(currentTarget.value)}
    />
  );
}

/** The custom fields that a form has; with `before`, null for those that were removed. Throws RequestError for a value that is none. */
export function readCustomFields(json: string, before: CustomFields = {}): CustomFields {
  const rows = JSON.parse(json || "[]") as readonly Row[];
  const fields = Object.fromEntries(rows.map((row) => [row.name.trim(), toValue(row)]));
  const twice = rows.find(({ name }, i) => rows.findIndex((other) => other.name.trim() === name.trim()) !== i);
  if (twice) throw wrong(twice.name, "There are two fields of this name.");
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(fields, name));
  return { ...fields, ...Object.fromEntries(removed.map((name) => [name, null])) };
}

/** Null while a field has no name or no value. */
function readRows(rows: readonly Row[]): CustomFields | null {
  if (rows.some(({ name }) => name.trim() === "")) return null;
  try {
    return readCustomFields(JSON.stringify(rows));
  } catch {
    return null;
  }
}

function toText(value: unknown): { type: Type; text: string } {
  if (typeof value === "string") return { type: DATE.test(value) ? "date" : "text", text: value };
  if (typeof value === "number" || typeof value === "boolean") return { type: typeof value as Type, text: String(value) };
  return { type: "json", text: JSON.stringify(value) };
}

function toValue({ name, type, text }: Row): unknown {
  if (type === "number") {
    const number = Number(text);
    if (text.trim() === "" || !Number.isFinite(number)) throw wrong(name, `"${text}" is not a number.`);
    return number;
  }
  if (type === "boolean") return text === "true";
  if (type !== "json") return text;
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(name, 'Write JSON, such as ["a", "b"] or {"seats": 5}.');
  }
}

function wrong(name: string, message: string): RequestError {
  return new RequestError({ code: "validation_error", message: `The field ${name || "without a name"} is not right.`, hint: message });
}
