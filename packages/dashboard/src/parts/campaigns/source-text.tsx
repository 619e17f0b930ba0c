/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Field } from "../field.tsx";

interface Props {
  readonly label: string;
  readonly value: string;
  readonly hint?: ComponentChildren;
  readonly error: string;
  readonly change: (text: string) => void;
}

/** A field for HTML source, which grows with it. Tab indents, as in editors of code; after Escape it leaves the field. */
export function SourceText({ label, value, hint, error, change }: Props) {
  const leaves = useRef(false);
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Tab" && !event.shiftKey && !event.ctrlKey && !event.altKey && !leaves.current) {
      event.preventDefault();
      // Unlike a new value, this can be undone by the person.
      document.execCommand("insertText", false, "  ");
    }
    leaves.current = event.key === "Escape";
  };
  return (
    <Field label={label} hint={<>{hint} Tab indents; press Escape, then Tab, to leave the field.</>} error={error}>
      <textarea
        class="code source"
        rows={14}
        spellcheck={false}
        wrap="off"
        value={value}
        aria-invalid={error !== ""}
        onKeyDown={press}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </Field>
  );
}
