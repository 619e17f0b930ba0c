/** @jsxImportSource preact */
import { useEffect, useRef, useState } from "preact/hooks";
import { after } from "../browser.ts";
import { query, setQuery } from "../router.tsx";
import { useResource } from "./resource.ts";

// After the last letter.
const TYPING_MS = 250;

type Option = string | { readonly value: string; readonly text: string };

export interface FilterField {
  readonly name: string;
  readonly label: string;
  /** Values of a choice; a function loads them when the filter is first shown. */
  readonly options?: readonly Option[] | ((signal: AbortSignal) => Promise<readonly Option[]>);
  /** True for a day. */
  readonly day?: true;
  /** True for one that is shown on demand, or while it is set. */
  readonly rare?: true;
  /** Example of a text. */
  readonly example?: string;
  /** Pattern the text must match before it is used. */
  readonly pattern?: RegExp;
}

/** Filters of a list, which stand in the address: a list can be sent to a colleague, and survives a reload. */
export function Filters({ fields }: { readonly fields: readonly FilterField[] }) {
  const active = fields.some(({ name }) => query.value.has(name));
  const [all, setAll] = useState(false);
  const shown = fields.filter(({ name, rare }) => all || !rare || query.value.has(name));
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {shown.map((field) => (
        <Filter key={field.name} {...field} />
      ))}
      {shown.length < fields.length ? (
        <button type="button" class="link" onClick={() => setAll(true)}>
          More filters
        </button>
      ) : null}
      {active ? (
        <button type="button" class="link" onClick={() => setQuery(Object.fromEntries(fields.map(({ name }) => [name, ""])))}>
          Clear
        </button>
      ) : null}
    </form>
  );
}

function Filter(field: FilterField) {
  const { options, day } = field;
  if (typeof options === "function") return <LoadedChoice {...field} load={options} />;
  if (options) return <Choice {...field} options={options} />;
  return day ? <Day {...field} /> : <Text {...field} />;
}

/** The filters of the address that are set, by name. */
export function readFilters(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((name) => (query.value.has(name) ? [[name, query.value.get(name) ?? ""]] : [])));
}

/**
 * Makes an operation take the days of filters named `since` and `until`, which begin and end by the reader's clock; the last day itself is
 * looked at, too.
 */
export function withDays<Answer, Options>(operation: (query: never, options: Options) => Promise<Answer>) {
  return ({ since, until, ...rest }: Readonly<Record<string, string>>, options: Options): Promise<Answer> => {
    const days = { ...(since !== undefined && { since: startOf(since, 0) }), ...(until !== undefined && { until: startOf(until, 1) }) };
    return operation({ ...rest, ...days } as never, options);
  };
}

/** The instant at which a day begins here, or another one so many days later. */
function startOf(day: string, later: number): string {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + later);
  return Number.isNaN(date.getTime()) ? day : date.toISOString();
}

/** A choice whose values are loaded. One that the address names and the list lacks stays as it is. */
function LoadedChoice({ load, ...field }: FilterField & { readonly load: (signal: AbortSignal) => Promise<readonly Option[]> }) {
  const { data } = useResource(load, [field.name]);
  const chosen = query.value.get(field.name) ?? "";
  const options = data ?? [];
  const isKnown = chosen === "" || options.some((option) => (typeof option === "string" ? option : option.value) === chosen);
  return <Choice {...field} options={isKnown ? options : [...options, { value: chosen, text: chosen }]} />;
}

function Day({ name, label }: FilterField) {
  return (
    <label class="day">
      <span class="soft">{label}</span>
      <input type="date" value={query.value.get(name) ?? ""} onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value })} />
    </label>
  );
}

function Choice({ name, label, options }: Omit<FilterField, "options"> & { readonly options: readonly Option[] }) {
  return (
    <label>
      <span class="hidden">{label}</span>
      <select value={query.value.get(name) ?? ""} onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value })}>
        <option value="">{label}: any</option>
        {options.map((option) => {
          const { value, text } = typeof option === "string" ? { value: option, text: option.replaceAll("_", " ") } : option;
          return (
            <option key={value} value={value}>
              {text}
            </option>
          );
        })}
      </select>
    </label>
  );
}

function Text({ name, label, example, pattern }: FilterField) {
  const stored = query.value.get(name) ?? "";
  const [text, setText] = useState(stored);
  const cancel = useRef<(() => void) | null>(null);
  useEffect(() => setText(stored), [stored]);
  // Cancels on unmount, so that the filter does not end up in the next page's address.
  useEffect(() => () => cancel.current?.(), []);
  const fits = text === "" || pattern === undefined || pattern.test(text);
  const type = (typed: string): void => {
    setText(typed);
    cancel.current?.();
    const good = typed === "" || pattern === undefined || pattern.test(typed);
    if (good) cancel.current = after(TYPING_MS, () => setQuery({ [name]: typed.trim() }));
  };
  return (
    <label>
      <span class="hidden">{label}</span>
      <input
        type="search"
        data-search
        placeholder={example ?? label}
        value={text}
        aria-invalid={!fits}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => type(currentTarget.value)}
      />
      {fits ? null : (
        <span class="hint wrong" role="status">
          Type all of it: {example ?? label}
        </span>
      )}
    </label>
  );
}
