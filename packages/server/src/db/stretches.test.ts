import { expect, test } from "vitest";
import { CHUNK_BYTES } from "../lib/turn.ts";
import { cutIntoStretches } from "./stretches.ts";

const row = (bytes: number) => ({ content: new Uint8Array(bytes) });
const cut = (sizes: readonly number[], maxRows = 100) =>
  cutIntoStretches(sizes.map(row), ["content"], maxRows).map(({ rows, isLong }) => [rows.map(({ content }) => content.length), isLong]);

test("rows are cut where a megabyte would be passed, and after the largest number of them", () => {
  const [half, whole] = [CHUNK_BYTES / 2, CHUNK_BYTES];
  expect(cut([half, half, 1])).toEqual([
    [[half, half], true],
    [[1], false],
  ]);
  expect(cut([1, whole, 1])).toEqual([
    [[1], true],
    [[whole], true],
    [[1], false],
  ]);
  expect(cut([1, 2, 3, 4, 5], 2)).toEqual([
    [[1, 2], true],
    [[3, 4], true],
    [[5], false],
  ]);
});

test("a large value is a stretch alone, after which others are served", () => {
  expect(cut([9 * CHUNK_BYTES])).toEqual([[[9 * CHUNK_BYTES], true]]);
  expect(cut([CHUNK_BYTES / 2 + 1])).toEqual([[[CHUNK_BYTES / 2 + 1], true]]);
});

test("rows without bytes, and no rows, are one stretch", () => {
  expect(cut([0, 0])).toEqual([[[0, 0], false]]);
  expect(cutIntoStretches([], [], 10)).toEqual([{ rows: [], isLong: false }]);
  expect(cutIntoStretches([{ content: null }, {}], ["content"], 10)).toHaveLength(1);
});
