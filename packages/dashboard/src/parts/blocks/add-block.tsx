/** @jsxImportSource preact */
import type { MailBlock } from "@mailsvc/sdk/contract";
import { useId, useRef } from "preact/hooks";
import { BLOCK_KINDS, KINDS } from "./kinds.ts";

interface Props {
  readonly label: string;
  /** True in a column, which takes no columns. */
  readonly isNarrow: boolean;
  readonly add: (type: MailBlock["type"]) => void;
}

/** The kinds of blocks: as buttons in a row, or behind one button where there is little room. */
export function AddBlock({ label, isNarrow, add }: Props) {
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const kinds = BLOCK_KINDS.filter((type) => !isNarrow || type !== "columns");
  const choose = (type: MailBlock["type"]) => (
    <button
      key={type}
      type="button"
      onClick={() => {
        if (isNarrow) menu.current?.hidePopover();
        add(type);
      }}
    >
      {KINDS[type].name}
    </button>
  );
  if (!isNarrow)
    return (
      <fieldset class="add-block">
        <legend>{label}</legend>
        <div class="buttons">{kinds.map(choose)}</div>
      </fieldset>
    );
  const place = (): void => {
    const box = button.current?.getBoundingClientRect();
    if (!box || !menu.current) return;
    menu.current.style.top = `${Math.max(8, Math.min(box.bottom + 4, window.innerHeight - 230))}px`;
    menu.current.style.right = `${Math.max(8, document.documentElement.clientWidth - box.right)}px`;
  };
  return (
    <div class="add-block">
      <button ref={button} type="button" class="quiet" popovertarget={id} onClick={place}>
        {label}
      </button>
      <div ref={menu} id={id} popover="auto" class="row-menu">
        {kinds.map(choose)}
      </div>
    </div>
  );
}
