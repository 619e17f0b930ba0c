/** @jsxImportSource preact */
import type { FieldKind } from "@mailsvc/sdk/contract";
import { CONTACT_LIMITS, kindOfField, RULE_LIMITS } from "@mailsvc/sdk/contract/facts";
import { useId } from "preact/hooks";
import { STATUS_OPTIONS } from "../audience/words.ts";
import { Tokens } from "../tokens.tsx";
import type { Known } from "./rule-builder.tsx";
import type { ConditionNode } from "./tree.ts";
import { entryOf, parseDuration, type Value } from "./values.ts";

interface Props {
  readonly node: Pick<ConditionNode, "field" | "operator" | "value">;
  /** The kind of the field, unless its name says it. */
  readonly kind?: FieldKind;
  readonly known: Known;
  readonly wrong: boolean;
  readonly set: (value: Value) => void;
}

interface Choice {
  readonly value: string;
  readonly text: string;
}

const UNITS = { d: "days", h: "hours", m: "minutes", s: "seconds" } as const;

const TYPES = { text: "text", number: "number", boolean: "yes or no" } as const;

/** Input for the value of a condition, by its operator. */
export function ValueInput({ node, kind, known, wrong, set }: Props) {
  const { field, operator, value } = node;
  const entry = entryOf(field, operator, kind);
  const shared = { label: "Value", wrong, set };
  switch (entry) {
    case "nothing":
      return null;
    case "number":
      return kindOfField(field) === "count" ? (
        <span class="pair">
          <NumberInput {...shared} value={value} whole />
          times
        </span>
      ) : (
        <NumberInput {...shared} value={value} />
      );
    case "date":
      return <TextInput {...shared} value={value} type={/^$|^\d{4}-\d\d-\d\d$/.test(String(value ?? "")) ? "date" : "text"} />;
    case "duration":
      return <Duration {...shared} value={value} />;
    case "status":
      return <Choose {...shared} value={value} choices={STATUS_OPTIONS} />;
    case "list":
      return <Choose {...shared} value={value} choices={known.lists} />;
    case "statuses":
      return <ChooseSeveral {...shared} value={value} choices={STATUS_OPTIONS} />;
    case "lists":
      return <ChooseSeveral {...shared} value={value} choices={known.lists} />;
    case "typed":
      return <Typed {...shared} value={value} />;
    case "texts":
    case "typedTexts":
      return (
        <Tokens
          label="Values"
          values={[value ?? []].flat().map(String)}
          change={(texts) => set(toTexts(texts, entry === "typedTexts"))}
          placeholder="Several, with commas between"
          suggestions={field === "tags" ? known.tags : []}
          maxLength={RULE_LIMITS.text}
          invalid={wrong}
        />
      );
    default:
      return <TextInput {...shared} value={value} suggestions={field === "tags" ? known.tags : []} />;
  }
}

interface InputProps {
  readonly label: string;
  readonly value: Value;
  readonly wrong: boolean;
  readonly set: (value: Value) => void;
}

function TextInput({
  label,
  value,
  wrong,
  set,
  type = "text",
  suggestions = [],
}: InputProps & { readonly type?: "text" | "date"; readonly suggestions?: readonly string[] }) {
  const list = useId();
  const shared = {
    "aria-label": label,
    "aria-invalid": wrong,
    value: String(value ?? ""),
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => set(currentTarget.value),
  };
  if (type === "date") return <input type="date" {...shared} />;
  return (
    <>
      <input {...shared} list={list} maxLength={RULE_LIMITS.text} autocomplete="off" spellcheck={false} />
      <datalist id={list}>
        {suggestions.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  );
}

function NumberInput({ label, value, wrong, set, whole = false }: InputProps & { readonly whole?: boolean }) {
  return (
    <input
      type="number"
      step={whole ? 1 : "any"}
      min={whole ? 0 : undefined}
      aria-label={label}
      aria-invalid={wrong}
      value={typeof value === "number" ? value : ""}
      onInput={({ currentTarget }) => set(currentTarget.value === "" ? undefined : currentTarget.valueAsNumber)}
    />
  );
}

/** A duration of one unit; one of several, such as `1d12h`, as text. */
export function Duration({ label, value, wrong, set }: InputProps) {
  const parsed = parseDuration(value);
  if (parsed === null) return <TextInput {...{ label, value, wrong, set }} />;
  const { n, unit } = parsed;
  return (
    <span class="pair">
      <input
        type="number"
        min={1}
        step={1}
        aria-label={label}
        aria-invalid={wrong}
        value={n}
        onInput={({ currentTarget }) => set(`${currentTarget.value.replace(/\D/g, "")}${unit}`)}
      />
      <select aria-label="Unit" value={unit} onChange={({ currentTarget }) => set(`${n}${currentTarget.value}`)}>
        {Object.entries(UNITS).map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </span>
  );
}

export function Choose({ label, value, wrong, set, choices }: InputProps & { readonly choices: readonly Choice[] }) {
  const unknown = value !== "" && value !== undefined && !choices.some((one) => one.value === value);
  return (
    <select aria-label={label} aria-invalid={wrong} value={String(value ?? "")} onChange={({ currentTarget }) => set(currentTarget.value)}>
      {value === "" ? <option value="">Choose…</option> : null}
      {unknown ? <option value={String(value)}>{String(value)}</option> : null}
      {choices.map(({ value: one, text }) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  );
}

function ChooseSeveral({ label, value, wrong, set, choices }: InputProps & { readonly choices: readonly Choice[] }) {
  const chosen = [value ?? []].flat().map(String);
  return (
    <fieldset class="several" aria-label={label} aria-invalid={wrong}>
      {choices.map(({ value: one, text }) => (
        <label key={one} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={({ currentTarget: { checked } }) => set(checked ? [...chosen, one] : chosen.filter((other) => other !== one))}
          />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

/** The value of a custom field, with its type: 5 is another value than the text "5". */
function Typed({ label, value, wrong, set }: InputProps) {
  const type = typeof value === "boolean" ? "boolean" : typeof value === "number" || value === undefined ? "number" : "text";
  const turn = (next: string): void => {
    if (next === "boolean") set(true);
    else if (next === "number")
      set(typeof value === "string" && value.trim() !== "" && !Number.isNaN(Number(value)) ? Number(value) : undefined);
    else set(typeof value === "boolean" ? "" : String(value ?? ""));
  };
  return (
    <span class="pair">
      <select aria-label="Type of the value" value={type} onChange={({ currentTarget }) => turn(currentTarget.value)}>
        {Object.entries(TYPES).map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
      {type === "text" ? <TextInput {...{ label, value, wrong, set }} /> : null}
      {type === "number" ? <NumberInput {...{ label, value, wrong, set }} /> : null}
      {type === "boolean" ? (
        <select aria-label={label} value={String(value)} onChange={({ currentTarget }) => set(currentTarget.value === "true")}>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      ) : null}
    </span>
  );
}

/** Values of a custom field: numbers, if all of them are. */
function toTexts(texts: string[], typed: boolean): (string | number)[] {
  const numbers = texts.map(Number);
  return typed && texts.length > 0 && numbers.every((n, i) => String(n) === texts[i]) ? numbers : texts;
}

/** The name of a custom field, within the limits of the contract. */
export const MAX_FIELD_NAME = Math.min(CONTACT_LIMITS.customKey, RULE_LIMITS.fieldName);
