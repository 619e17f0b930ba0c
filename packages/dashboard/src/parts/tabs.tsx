/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { formatCount } from "./plural.ts";

interface Tab {
  readonly name: string;
  readonly label: string;
  readonly count?: number | string;
}

interface Props {
  /** Label for screen readers. */
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly choose: (name: string) => void;
  readonly children: ComponentChildren;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Tabs and the panel of the chosen one. The arrow keys move between them. */
export function Tabs({ label, tabs, chosen, choose, children }: Props) {
  const id = useId();
  const move = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    const at = tabs.findIndex(({ name }) => name === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    choose(next.name);
    document.getElementById(`${id}-${next.name}`)?.focus();
  };
  return (
    <section class="tabbed">
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name, label: text, count }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => choose(name)}
          >
            {text}
            {count === undefined ? null : <span class="count">{typeof count === "number" ? formatCount(count) : count}</span>}
          </button>
        ))}
      </div>
      <div class={`panel ${chosen}`} role="tabpanel" tabIndex={0} id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </section>
  );
}
