/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { RowWindow } from "./row-window.tsx";

interface Props<Item> {
  readonly items: readonly Item[];
  /** Height of a row, px. Must match the style sheet. */
  readonly height: number;
  readonly row: (item: Item, index: number) => ComponentChildren;
  /** Called when the end of the items comes into sight. */
  readonly more: () => void;
  /** Content that stays above the rows, such as column heads. */
  readonly head?: ComponentChildren;
  readonly role: "table" | "list";
  readonly label: string;
  /** Number of all rows. */
  readonly total: number | null;
}

// So many rows before the end of those that are loaded, the next ones are.
const AHEAD = 8;

/** A list that grows while it is scrolled. */
export function VirtualRows<Item>({ items, row, more, ...rest }: Props<Item>) {
  const [end, setEnd] = useState(0);
  const nearEnd = end >= items.length - AHEAD;
  // Also when as many items came as there were: `more` does nothing while the list is loaded again.
  useEffect(() => {
    if (nearEnd && items.length > 0) more();
  }, [nearEnd, items]);
  return <RowWindow {...rest} count={items.length} row={(index) => row(items[index] as Item, index)} seen={(_, last) => setEnd(last)} />;
}
