import { useEffect, useRef, useState } from "preact/hooks";
import type { Position } from "./tree.ts";

interface Drag {
  readonly key: number;
  /** Columns do not go into columns. */
  readonly isWide: boolean;
}

interface Dragging {
  /** The block that is dragged; null for none. */
  readonly key: number | null;
  /** The position at which it would be dropped; null where it cannot be. */
  readonly over: Position | null;
  begin(event: PointerEvent, drag: Drag): void;
}

// A press that moves less is no drag.
const STARTS_AT = 4;
// Nearer to an edge of the page, it scrolls.
const EDGE = 60;

/**
 * Lets blocks be dragged with a mouse or a finger. Lists are elements with `data-list` (`mail`, or the key and column of a block), blocks are
 * their children with `data-key`. `drop` gets the position among the other blocks.
 */
export function useDrag(drop: (key: number, to: Position) => void): Dragging {
  const [state, setState] = useState<{ key: number; over: Position | null } | null>(null);
  const stop = useRef<(() => void) | null>(null);
  const dropLatest = useRef(drop);
  dropLatest.current = drop;
  useEffect(() => () => stop.current?.(), []);
  const begin = (event: PointerEvent, { key, isWide }: Drag): void => {
    const handle = event.currentTarget;
    if (event.button !== 0 || !(handle instanceof HTMLElement)) return;
    const root = handle.closest("[data-blocks]");
    const scroller = handle.closest(".editor, .column, main");
    let over: Position | null = null;
    let isMoving = false;
    const move = (at: PointerEvent): void => {
      if (!isMoving && Math.hypot(at.clientX - event.clientX, at.clientY - event.clientY) < STARTS_AT) return;
      isMoving = true;
      at.preventDefault();
      if (at.clientY < EDGE) scroller?.scrollBy(0, -12);
      else if (at.clientY > window.innerHeight - EDGE) scroller?.scrollBy(0, 12);
      over = root === null ? null : findDrop(root, at, key, isWide);
      setState({ key, over });
    };
    const end = (dropped: boolean): void => {
      stop.current?.();
      stop.current = null;
      setState(null);
      if (dropped && over !== null) dropLatest.current(key, over);
    };
    const up = (): void => end(isMoving);
    const cancel = (): void => end(false);
    const press = ({ key: pressed }: KeyboardEvent): void => {
      if (pressed === "Escape") cancel();
    };
    window.addEventListener("pointermove", move, { passive: false });
    window.addEventListener("pointerup", up);
    window.addEventListener("pointercancel", cancel);
    window.addEventListener("keydown", press);
    stop.current = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
      window.removeEventListener("pointercancel", cancel);
      window.removeEventListener("keydown", press);
    };
  };
  return { key: state?.key ?? null, over: state?.over ?? null, begin };
}

/** The list under the pointer, the innermost first, and the place in it by the middles of its blocks. */
function findDrop(root: Element, { clientX, clientY }: PointerEvent, key: number, isWide: boolean): Position | null {
  const lists = [...root.querySelectorAll<HTMLElement>("[data-list]")].reverse();
  const isOver = (list: HTMLElement): boolean => {
    const box = list.getBoundingClientRect();
    return clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
  };
  const list = lists.find(
    (one) => isOver(one) && !(isWide && one.dataset["list"] !== "mail") && one.closest(`[data-key="${key}"]`) === null,
  );
  const chosen = list ?? lists.find((one) => one.dataset["list"] === "mail");
  if (!chosen) return null;
  const others = [...chosen.children].filter(
    (one) => one instanceof HTMLElement && one.dataset["key"] && one.dataset["key"] !== String(key),
  );
  const at = others.filter((one) => {
    const { top, height } = one.getBoundingClientRect();
    return top + height / 2 < clientY;
  }).length;
  const [owner, column] = (chosen.dataset["list"] ?? "mail").split(" ");
  return { place: owner === "mail" ? null : { key: Number(owner), column: Number(column) }, at };
}
