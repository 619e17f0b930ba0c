/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Props<Item> {
  readonly items: readonly Item[];
  /** Of each row, px. It must be that of the style sheet. */
  readonly height: number;
  readonly row: (item: Item, index: number) => ComponentChildren;
  /** Called when the end of the items comes into sight. */
  readonly more: () => void;
  /** What stands above the rows and stays there, such as the heads of columns. */
  readonly head?: ComponentChildren;
  readonly role: "table" | "list";
  readonly label: string;
  /** How many there are in all. */
  readonly total: number | null;
}

// Rows above and below those in sight, so that a fast wheel does not meet empty space.
const MARGIN = 8;

/** Rows of equal height, of which only those in sight are in the document: a list of 100,000 scrolls as one of ten. */
export function VirtualRows<Item>({ items, height, row, more, head, role, label, total }: Props<Item>) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  const first = Math.max(0, Math.floor(view.top / height) - MARGIN);
  const end = Math.min(items.length, Math.ceil((view.top + view.height) / height) + MARGIN);
  const nearEnd = end >= items.length - MARGIN;
  useEffect(() => {
    if (nearEnd && items.length > 0) more();
  }, [nearEnd, items.length]);
  return (
    <div
      class="rows"
      ref={scroller}
      tabIndex={0}
      role={role}
      aria-label={label}
      {...(role === "table" && { "aria-rowcount": total ?? -1 })}
    >
      {head}
      <div class="space" role="presentation" style={{ height: `${items.length * height}px` }}>
        <div class="window" role="presentation" style={{ transform: `translateY(${first * height}px)` }}>
          {items.slice(first, end).map((item, i) => row(item, first + i))}
        </div>
      </div>
    </div>
  );
}
