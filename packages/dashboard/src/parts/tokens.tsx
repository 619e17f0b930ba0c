/** @jsxImportSource preact */
import { useId, useRef, useState } from "preact/hooks";

interface Props {
  readonly label: string;
  readonly values: readonly string[];
  readonly change: (values: string[]) => void;
  readonly placeholder?: string;
  /** Values to suggest. */
  readonly suggestions?: readonly string[];
  readonly maxLength?: number;
  readonly invalid?: boolean;
}

/** Several short texts. Enter or a comma adds one, Backspace in the empty field takes the last one away. */
export function Tokens({ label, values, change, placeholder, suggestions = [], maxLength, invalid = false }: Props) {
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const add = (typed: string): void => {
    const fresh = typed.split(",").flatMap((one) => (one.trim() === "" ? [] : [one.trim()]));
    const kept = new Set(values.map((one) => one.toLowerCase()));
    const added = fresh.filter((one, i) => !kept.has(one.toLowerCase()) && fresh.indexOf(one) === i);
    if (added.length > 0) change([...values, ...added]);
    setText("");
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && text.trim() !== "") {
      event.preventDefault();
      add(text);
    } else if (event.key === "Backspace" && text === "" && values.length > 0) change(values.slice(0, -1));
  };
  const type = (typed: string): void => {
    if (typed.includes(",")) add(typed);
    else setText(typed);
  };
  return (
    <div class="tokens">
      {values.map((value) => (
        <span key={value} class="token">
          <span>{value}</span>
          <button
            type="button"
            aria-label={`Remove ${value}`}
            onClick={() => {
              change(values.filter((one) => one !== value));
              input.current?.focus();
            }}
          >
            ×
          </button>
        </span>
      ))}
      <input
        ref={input}
        aria-label={label}
        aria-invalid={invalid}
        value={text}
        list={list}
        placeholder={values.length === 0 ? placeholder : ""}
        maxLength={maxLength}
        autocomplete="off"
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onKeyDown={press}
        onBlur={() => add(text)}
      />
      <datalist id={list}>
        {suggestions.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </div>
  );
}
