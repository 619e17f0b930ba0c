/** @jsxImportSource preact */
import type { AutomationStep } from "@mailsvc/sdk/contract";
import { useId, useRef, useState } from "preact/hooks";
import { NEW_STEPS } from "./step-fields.generated.ts";

interface Props {
  /** The place of the arrow in the graph, px. */
  readonly at: { readonly x: number; readonly y: number };
  /** The arrow in words: after which step, and before which. */
  readonly where: string;
  readonly insert: (type: AutomationStep["type"]) => void;
}

/** A button on an arrow that puts a new step into it; its kind is found by its name. */
export function InsertStep({ at, where, insert }: Props) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const place = (): void => {
    const box = button.current?.getBoundingClientRect();
    if (!box || !menu.current) return;
    menu.current.style.top = `${Math.max(8, Math.min(box.bottom + 4, window.innerHeight - 320))}px`;
    menu.current.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - 268))}px`;
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="insert"
        style={{ left: `${at.x}px`, top: `${at.y}px` }}
        aria-label={`Add a step ${where}`}
        title="Add a step here"
        popovertarget={id}
        onClick={place}
        onKeyDown={(event) => event.stopPropagation()}
      >
        +
      </button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        class="step-search"
        role="dialog"
        aria-label="Add a step"
        onToggle={({ newState }) => setOpen(newState === "open")}
        onKeyDown={(event) => event.stopPropagation()}
      >
        {isOpen ? (
          <StepSearch
            choose={(type) => {
              menu.current?.hidePopover();
              insert(type);
            }}
          />
        ) : null}
      </div>
    </>
  );
}

/** The kinds of steps whose name has what is typed; the arrow keys move in them, and Enter takes one. */
function StepSearch({ choose }: { readonly choose: (type: AutomationStep["type"]) => void }) {
  const id = useId();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = Object.entries(NEW_STEPS).filter(([type, { title }]) =>
    words.every((word) => `${title} ${type}`.toLowerCase().includes(word)),
  );
  const marked = Math.min(at, found.length - 1);
  const press = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt((marked + step + found.length) % Math.max(1, found.length));
    else if (event.key !== "Enter" || found[marked] === undefined) return;
    else choose(found[marked][0] as AutomationStep["type"]);
    event.preventDefault();
  };
  return (
    <>
      <input
        ref={(element) => element?.focus()}
        role="combobox"
        aria-label="Kind of step"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length === 0 ? undefined : `${id}-${marked}`}
        aria-autocomplete="list"
        placeholder="Send, wait, split …"
        autocomplete="off"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div id={id} role="listbox" aria-label="Kinds of steps">
        {found.map(([type, { title }], i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={type}
            id={`${id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === marked}
            onClick={() => choose(type as AutomationStep["type"])}
          >
            {title}
          </div>
        ))}
      </div>
      {found.length === 0 ? <p class="soft">No kind of step has this name.</p> : null}
    </>
  );
}
