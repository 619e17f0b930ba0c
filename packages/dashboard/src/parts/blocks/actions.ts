import type { MailBlock } from "@mailsvc/sdk/contract";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { BlockActions } from "./block-card.tsx";
import type { BlockDocument } from "./document.ts";
import { KINDS, nameBlock } from "./kinds.ts";
import {
  changeItem,
  copyItem,
  findItem,
  findPosition,
  insertItem,
  listIn,
  moveItem,
  type Position,
  removeItem,
  resizeColumns,
  toItems,
} from "./tree.ts";

/** Changes blocks as a person asks, tells it to those who do not see it, and keeps the focus where they are. */
export function useBlockActions(mail: BlockDocument, root: RefObject<HTMLElement | null>) {
  const [opened, open] = useState<number | null>(null);
  const [said, say] = useState("");
  // The element that gets the focus once the list is rendered again: moving takes it away.
  const focus = useRef<{ readonly key: number; readonly on: "handle" | "fields" } | null>(null);
  useLayoutEffect(() => {
    const wanted = focus.current;
    focus.current = null;
    if (wanted === null) return;
    const card = root.current?.querySelector(`[data-key="${wanted.key}"]`);
    const fields = wanted.on === "fields" ? findFirstField(card) : null;
    (fields ?? card?.querySelector<HTMLElement>(":scope > .block-head > .handle"))?.focus();
    card?.scrollIntoView({ block: "nearest" });
  });
  const items = () => mail.items.peek();
  const drop = (key: number, to: Position): void => {
    const before = items();
    const item = findItem(before, key);
    if (item === null) return;
    mail.apply(moveItem(before, key, to));
    const count = listIn(items(), to.place).length;
    const where = to.place === null ? "" : ` in column ${to.place.column + 1}`;
    focus.current = { key, on: "handle" };
    say(`${nameBlock(item.block)} moved to ${to.at + 1} of ${count}${where}.`);
  };
  const add = (type: MailBlock["type"], at: Position): void => {
    const [item] = toItems([KINDS[type].start], mail.makeKey);
    if (item === undefined) return;
    mail.apply(insertItem(items(), at, item));
    open(item.key);
    focus.current = { key: item.key, on: "fields" };
    say(`${KINDS[type].name} added.`);
  };
  const actions: Omit<BlockActions, "drag"> = {
    change: (key, fields, step) => {
      const change = (item: ReturnType<typeof copyItem>) => ({ ...item, block: { ...item.block, ...fields } as MailBlock });
      mail.apply(changeItem(items(), key, change), step === "" ? "" : `${key} ${step}`);
    },
    resize: (key, count) =>
      mail.apply(
        changeItem(items(), key, (item) => {
          const resized = resizeColumns(item, count);
          const columns = (resized.columns ?? []).map(() => ({ blocks: [] }));
          return { ...resized, block: { type: "columns", columns } };
        }),
      ),
    step: (key, by) => {
      const at = findPosition(items(), key);
      if (at === null) return;
      const to = at.at + by;
      if (to < 0 || to >= listIn(items(), at.place).length) return say(by < 0 ? "It is already first." : "It is already last.");
      drop(key, { place: at.place, at: to });
    },
    listMoves: (key) => listMoves(mail, key, drop),
    copy: (key) => {
      const item = findItem(items(), key);
      const at = findPosition(items(), key);
      if (item === null || at === null) return;
      const copy = copyItem(item, mail.makeKey);
      mail.apply(insertItem(items(), { place: at.place, at: at.at + 1 }, copy));
      focus.current = { key: copy.key, on: "handle" };
      say(`${nameBlock(item.block)} duplicated.`);
    },
    remove: (key) => {
      const item = findItem(items(), key);
      const at = findPosition(items(), key);
      if (item === null || at === null) return;
      mail.apply(removeItem(items(), key));
      const left = listIn(items(), at.place);
      const next = left[Math.min(at.at, left.length - 1)];
      if (next) focus.current = { key: next.key, on: "handle" };
      say(`${nameBlock(item.block)} deleted. Undo brings it back.`);
    },
    open,
  };
  return { actions, opened, said, add, drop };
}

/** The field in which a person begins to write, or the button with which they choose a picture. */
function findFirstField(card: Element | null | undefined): HTMLElement | null {
  const upload = card?.querySelector<HTMLElement>(".block-body > .buttons > button");
  return upload ?? card?.querySelector<HTMLElement>(".block-body > .field > :is(input, textarea, select)") ?? null;
}

/** The lists that a block can be moved into: columns, or out of them. */
function listMoves(mail: BlockDocument, key: number, drop: (key: number, to: Position) => void) {
  const items = mail.items.peek();
  const from = findPosition(items, key);
  const item = findItem(items, key);
  if (from === null || item === null) return [];
  const { place } = from;
  if (place !== null) {
    const owner = items.findIndex((one) => one.key === place.key);
    const others = (items[owner]?.columns ?? []).flatMap((_, column) => (column === place.column ? [] : [{ key: place.key, column }]));
    return [
      { label: "Move out of the columns", act: () => drop(key, { place: null, at: owner + 1 }) },
      ...others.map((to) => ({
        label: `Move to column ${to.column + 1}`,
        act: () => drop(key, { place: to, at: listIn(items, to).length }),
      })),
    ];
  }
  if (item.columns !== undefined) return [];
  const groups = items.filter(({ columns }) => columns !== undefined);
  return groups.flatMap((group, n) =>
    (group.columns ?? []).map((column, i) => ({
      label: `Move into column ${i + 1}${groups.length > 1 ? ` of columns ${n + 1}` : ""}`,
      act: () => drop(key, { place: { key: group.key, column: i }, at: column.length }),
    })),
  );
}
