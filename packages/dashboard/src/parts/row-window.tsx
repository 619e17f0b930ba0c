/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { readPlace } from "../router.tsx";

interface Props {
  /** Number of rows. */
  readonly count: number;
  /** Height of a row, px. Must match the style sheet. */
  readonly height: number;
  readonly row: (index: number) => ComponentChildren;
  /** Called with the places of the rows in the document when they change: the first, and the one after the last. */
  readonly seen: (first: number, end: number) => void;
  /** Content that stays above the rows, such as column heads. */
  readonly head?: ComponentChildren;
  readonly role: "table" | "list";
  readonly label: string;
  /** Number of all rows, including the head. */
  readonly total: number | null;
}

// Rows above and below those in sight, so that a fast wheel does not meet empty space.
const MARGIN = 8;

// Browsers cut off elements that are higher, Firefox at 17.8 million. Beyond it, a pixel of the scroll bar stands for several of the rows.
const MAX_SPACE = 8_000_000;

// By them a person scrolls.
const GESTURES = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/** Rows of equal height, of which only those in sight are in the document: a list of 100,000 scrolls as one of ten. */
export function RowWindow({ count, height, row, seen, head, role, label, total }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800, max: 0 });
  // Position of the person before a link led away; null once the list is there, or the person scrolls by themselves.
  const wanted = useRef<number | null>(readPlace(label) || null);
  const full = count * height;
  const space = Math.min(full, MAX_SPACE);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = (): void => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      // Between two rows nothing changes, so nothing is rendered.
      const top = full > space ? scrollTop : Math.floor(scrollTop / height) * height;
      const next = { top, height: clientHeight, max: scrollHeight - clientHeight };
      setView((now) => (now.top === next.top && now.height === next.height && now.max === next.max ? now : next));
    };
    // Rows that are not loaded yet follow when their end is in sight, and lead here again.
    if (wanted.current !== null && full > 0) {
      element.scrollTop = wanted.current;
      if (element.scrollTop >= wanted.current - 1) wanted.current = null;
    }
    const give = (): void => {
      wanted.current = null;
    };
    look();
    for (const type of GESTURES) element.addEventListener(type, give, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      for (const type of GESTURES) element.removeEventListener(type, give);
      element.removeEventListener("scroll", look);
    };
  }, [full, space, height]);
  const top = full > space && view.max > 0 ? (view.top * (full - space + view.max)) / view.max : view.top;
  const first = Math.max(0, Math.min(count, Math.floor(top / height)) - MARGIN);
  const end = Math.min(count, Math.ceil((top + view.height) / height) + MARGIN);
  useEffect(() => seen(first, end), [first, end, count]);
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
      <div class="space" role="presentation" style={{ height: `${space}px` }}>
        <div class="window" role="presentation" style={{ transform: `translateY(${first * height + view.top - top}px)` }}>
          {Array.from({ length: end - first }, (_, i) => row(first + i))}
        </div>
      </div>
    </div>
  );
}
