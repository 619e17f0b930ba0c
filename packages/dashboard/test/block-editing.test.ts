import type { MailBlock } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BlockDocument } from "../src/parts/blocks/document.ts";
import { nameBlock } from "../src/parts/blocks/kinds.ts";
import {
  changeItem,
  copyItem,
  findPosition,
  type Item,
  insertItem,
  moveItem,
  type Place,
  removeItem,
  resizeColumns,
  toBlocks,
  toItems,
  toPath,
} from "../src/parts/blocks/tree.ts";
import { writeVariable } from "../src/parts/blocks/variables.ts";

const heading = (text: string): MailBlock => ({ type: "heading", text });
const columns = (...lists: string[][]): MailBlock => ({
  type: "columns",
  columns: lists.map((texts) => ({ blocks: texts.map((text) => ({ type: "heading", text })) })),
});

/** Blocks as texts, those in columns in brackets. */
const draw = (items: readonly Item[]): string =>
  items
    .map(({ block, columns: inside }) => (inside ? `[${inside.map(draw).join("|")}]` : block.type === "heading" ? block.text : block.type))
    .join(" ");

function open(blocks: readonly MailBlock[]) {
  let last = 0;
  const makeKey = (): number => (last += 1);
  const items = toItems(blocks, makeKey);
  const keyOf = (text: string): number => {
    const all = items.flatMap((item) => [item, ...(item.columns ?? []).flat()]);
    return all.find(({ block }) => block.type === "heading" && block.text === text)?.key ?? 0;
  };
  return { items, makeKey, keyOf };
}

describe("blocks in a list and in columns", () => {
  test("are moved within a list, into columns and out of them", () => {
    const { items, keyOf } = open([heading("a"), columns(["b"], []), heading("c")]);
    const group = items[1]?.key ?? 0;
    const move = (text: string, place: Place, at: number): string => draw(moveItem(items, keyOf(text), { place, at }));
    expect(move("a", null, 2)).toBe("[b|] c a");
    expect(move("c", null, 0)).toBe("c a [b|]");
    expect(move("a", { key: group, column: 1 }, 0)).toBe("[b|a] c");
    expect(move("b", null, 0)).toBe("b a [|] c");
    expect(move("b", { key: group, column: 1 }, 0)).toBe("a [|b] c");
  });

  test("columns go into no columns", () => {
    const { items } = open([columns(["a"], []), columns(["b"], [])]);
    const [first, second] = items.map(({ key }) => key) as [number, number];
    expect(moveItem(items, first, { place: { key: second, column: 0 }, at: 0 })).toBe(items);
    expect(moveItem(items, first, { place: { key: first, column: 0 }, at: 0 })).toBe(items);
  });

  test("keep everything when columns become fewer", () => {
    const { items } = open([columns(["a"], ["b"], ["c"])]);
    const [item] = items as [Item];
    expect(draw([resizeColumns(item, 2)])).toBe("[a|b c]");
    expect(draw([resizeColumns(resizeColumns(item, 2), 3)])).toBe("[a|b c|]");
  });

  test("have the paths by which the server names them", () => {
    const { items, keyOf } = open([heading("a"), columns(["b"], ["c", "d"])]);
    expect(["a", "b", "d"].map((text) => toPath(items, keyOf(text)))).toEqual([
      "blocks[0]",
      "blocks[1].columns[0].blocks[0]",
      "blocks[1].columns[1].blocks[1]",
    ]);
  });

  test("are the same blocks again, whatever was moved", () => {
    const { items, makeKey } = open([heading("a"), columns(["b", "c"], ["d"]), heading("e"), columns([], [])]);
    const keys = items.flatMap((item) => [item.key, ...(item.columns ?? []).flat().map(({ key }) => key)]);
    const groups = items.filter((item) => item.columns !== undefined).map(({ key }) => key);
    const place = fc.oneof(fc.constant(null), fc.record({ key: fc.constantFrom(...groups), column: fc.nat(1) }));
    const step = fc.record({ key: fc.constantFrom(...keys), place, at: fc.nat(5) });
    const letters = (list: readonly Item[]): string => [...draw(list).replace(/[^a-e]/g, "")].sort().join("");
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const moved = steps.reduce<readonly Item[]>((now, { key, place: to, at }) => moveItem(now, key, { place: to, at }), items);
        expect(letters(moved)).toBe("abcde");
        expect(toItems(toBlocks(moved), makeKey)).toHaveLength(moved.length);
      }),
    );
  });

  test("are put in, changed, copied with keys of their own, and removed", () => {
    const { items, makeKey, keyOf } = open([columns(["a"], [])]);
    const [group] = items as [Item];
    const copy = copyItem(group, makeKey);
    const both = insertItem(items, { place: null, at: 1 }, copy);
    const changed = changeItem(both, copy.columns?.[0]?.[0]?.key ?? 0, (item) => ({ ...item, block: heading("b") }));
    expect(draw(changed)).toBe("[a|] [b|]");
    expect(draw(removeItem(changed, keyOf("a")))).toBe("[|] [b|]");
    expect(findPosition(changed, 99)).toBeNull();
  });
});

describe("undoing", () => {
  const openDocument = () => {
    const saved: string[] = [];
    const mail = new BlockDocument([heading("a"), heading("b")], (blocks) => saved.push(blocks.map(nameBlock).join()));
    const write = (text: string): void => {
      const [first] = mail.items.peek() as [Item];
      mail.apply(
        changeItem(mail.items.peek(), first.key, (item) => ({ ...item, block: heading(text) })),
        `${first.key} text`,
      );
    };
    return { mail, saved, write };
  };

  test("takes back typing in a field as one step, and a deleted block as another", () => {
    const { mail, write } = openDocument();
    for (const text of ["ax", "axy"]) write(text);
    mail.apply(removeItem(mail.items.peek(), mail.items.peek()[1]?.key ?? 0));
    expect(draw(mail.items.peek())).toBe("axy");
    mail.undo();
    expect(draw(mail.items.peek())).toBe("axy b");
    mail.undo();
    expect(draw(mail.items.peek())).toBe("a b");
    expect(mail.canUndo.peek()).toBe(false);
    mail.redo();
    mail.redo();
    expect(draw(mail.items.peek())).toBe("axy");
    expect(mail.canRedo.peek()).toBe(false);
  });

  test("tells each state to be saved, and ends where something came from elsewhere", () => {
    const { mail, saved, write } = openDocument();
    write("c");
    mail.undo();
    expect(saved).toEqual(["Heading “c”,Heading “b”", "Heading “a”,Heading “b”"]);
    const keys = mail.items.peek().map(({ key }) => key);
    mail.follow([{ text: "a", type: "heading" }, heading("b")]);
    expect(mail.items.peek().map(({ key }) => key)).toEqual(keys);
    mail.follow([heading("theirs")]);
    expect([draw(mail.items.peek()), mail.canUndo.peek(), mail.canRedo.peek()]).toEqual(["theirs", false, false]);
    expect(saved).toHaveLength(2);
  });
});

test.each([
  ["firstName", "", "{{firstName}}"],
  ["firstName", "there", '{{default firstName "there"}}'],
  ["firstName", 'the "boss"}}<b>', '{{default firstName "the bossb"}}'],
])("the variable %s with the fallback %j is written %s", (name, fallback, written) => {
  expect(writeVariable(name, fallback)).toBe(written);
});
