/** @jsxImportSource preact */
import { useId, useRef, useState } from "preact/hooks";
import { Field } from "../field.tsx";
import type { VariableChoice } from "./variables.ts";
import { writeVariable } from "./variables.ts";

interface Props {
  readonly variables: readonly VariableChoice[];
  /** The place that it is put into: a text, or an address. */
  readonly place?: "text" | "link";
  readonly insert: (written: string) => void;
}

/** A button that puts a variable into a text, with words for those who have no value. */
export function VariableMenu({ variables, place = "text", insert }: Props) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const choices = variables.filter(({ isLink = false }) => !isLink || place === "link");
  const ordered = place === "link" ? [...choices].sort((a, b) => Number(b.isLink ?? false) - Number(a.isLink ?? false)) : choices;
  const [chosen, choose] = useState("");
  const [fallback, setFallback] = useState("");
  const name = chosen || (ordered[0]?.name ?? "");
  const isLink = ordered.find((one) => one.name === name)?.isLink ?? false;
  if (ordered.length === 0) return null;
  const open = (): void => {
    const box = button.current?.getBoundingClientRect();
    if (!box || !menu.current) return;
    const width = Math.min(280, document.documentElement.clientWidth - 16);
    menu.current.style.top = `${Math.min(box.bottom + 4, window.innerHeight - 240)}px`;
    menu.current.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - width - 8))}px`;
  };
  const put = (event: Event): void => {
    event.preventDefault();
    menu.current?.hidePopover();
    insert(writeVariable(name, isLink ? "" : fallback));
    setFallback("");
  };
  return (
    <>
      <button ref={button} type="button" class="quiet" popovertarget={id} onClick={open}>
        Variable
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        class="variable-menu form"
        role="dialog"
        aria-label="Put in a variable"
        onKeyDown={(event) => {
          if (event.key === "Enter" && event.target instanceof HTMLInputElement) put(event);
        }}
      >
        <Field label="Variable">
          <select value={name} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {ordered.map((one) => (
              <option key={one.name} value={one.name}>
                {one.label === one.name ? one.name : `${one.label} (${one.name})`}
              </option>
            ))}
          </select>
        </Field>
        {isLink ? null : (
          <Field label="If it is empty" hint="Shown to people without a value.">
            <input
              value={fallback}
              maxLength={100}
              autocomplete="off"
              placeholder="there"
              onInput={({ currentTarget }) => setFallback(currentTarget.value)}
            />
          </Field>
        )}
        <div class="buttons end">
          <button type="button" class="primary" onClick={put}>
            Put it in
          </button>
        </div>
      </div>
    </>
  );
}
