/** @jsxImportSource preact */
import { useId, useRef } from "preact/hooks";
import { useActing } from "./sending.ts";

interface Entry {
  readonly label: string;
  readonly act: () => Promise<void>;
}

interface Props {
  /** Label for screen readers. */
  readonly label: string;
  readonly entries: readonly Entry[];
}

/** Menu button with the actions for one row of a table. */
export function RowMenu({ label, entries }: Props) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const acting = useActing();
  const place = (): void => {
    const box = button.current?.getBoundingClientRect();
    if (!box || !menu.current) return;
    menu.current.style.top = `${box.bottom + 4}px`;
    menu.current.style.right = `${document.documentElement.clientWidth - box.right}px`;
  };
  const run = async ({ act }: Entry): Promise<void> => {
    menu.current?.hidePopover();
    await acting.act(act);
  };
  return (
    <>
      <button ref={button} type="button" class="quiet more" aria-label={label} disabled={acting.busy} popovertarget={id} onClick={place}>
        ⋯
      </button>
      <div ref={menu} id={id} popover="auto" class="row-menu">
        {entries.map((entry) => (
          <button key={entry.label} type="button" onClick={() => void run(entry)}>
            {entry.label}
          </button>
        ))}
      </div>
    </>
  );
}
