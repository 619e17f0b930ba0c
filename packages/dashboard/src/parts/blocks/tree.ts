import type { ColumnBlock, MailBlock, MailBlocks } from "@mailsvc/sdk/contract";

/** A block while it is edited, with a key that stays while its content changes and it moves. */
export interface Item {
  readonly key: number;
  /** Its content; of columns without what is in them. */
  readonly block: MailBlock;
  /** The blocks in its columns; absent for other blocks. */
  readonly columns?: readonly (readonly Item[])[];
}

/** A list of blocks: the mail itself, or a column of a block in it. */
export type Place = null | { readonly key: number; readonly column: number };

/** The position of a block. */
export interface Position {
  readonly place: Place;
  readonly at: number;
}

/** Blocks with keys for them. */
export function toItems(blocks: readonly MailBlock[], makeKey: () => number): Item[] {
  return blocks.map((block) =>
    block.type === "columns"
      ? { key: makeKey(), block, columns: block.columns.map((column) => toItems(column.blocks, makeKey)) }
      : { key: makeKey(), block },
  );
}

/** Blocks as they are stored. */
export function toBlocks(items: readonly Item[]): MailBlocks {
  return items.map(({ block, columns }) =>
    block.type === "columns" && columns !== undefined
      ? { ...block, columns: columns.map((column) => ({ blocks: toBlocks(column) as ColumnBlock[] })) }
      : block,
  );
}

/** The blocks of one list. */
export function listIn(items: readonly Item[], place: Place): readonly Item[] {
  return place === null ? items : (items.find(({ key }) => key === place.key)?.columns?.[place.column] ?? []);
}

/** The position of a block by its key; null for one that is not there. */
export function findPosition(items: readonly Item[], key: number): Position | null {
  for (const [at, item] of items.entries()) {
    if (item.key === key) return { place: null, at };
    for (const [column, inside] of (item.columns ?? []).entries()) {
      const found = inside.findIndex((one) => one.key === key);
      if (found !== -1) return { place: { key: item.key, column }, at: found };
    }
  }
  return null;
}

/** A block by its key. */
export function findItem(items: readonly Item[], key: number): Item | null {
  const position = findPosition(items, key);
  return position === null ? null : (listIn(items, position.place)[position.at] ?? null);
}

/** Puts a block in; columns do not go into columns. */
export function insertItem(items: readonly Item[], { place, at }: Position, item: Item): readonly Item[] {
  if (place !== null && item.columns !== undefined) return items;
  return changeList(items, place, (list) => list.toSpliced(at, 0, item));
}

export function removeItem(items: readonly Item[], key: number): readonly Item[] {
  const position = findPosition(items, key);
  return position === null ? items : changeList(items, position.place, (list) => list.toSpliced(position.at, 1));
}

/** Changes the content of a block, or the blocks in its columns. */
export function changeItem(items: readonly Item[], key: number, change: (item: Item) => Item): readonly Item[] {
  const position = findPosition(items, key);
  if (position === null) return items;
  return changeList(items, position.place, (list) => list.map((item) => (item.key === key ? change(item) : item)));
}

/** Moves a block; `to.at` is its place among the others, without itself. Unchanged where it cannot go. */
export function moveItem(items: readonly Item[], key: number, to: Position): readonly Item[] {
  const item = findItem(items, key);
  if (item === null || (to.place !== null && (item.columns !== undefined || to.place.key === key))) return items;
  return insertItem(removeItem(items, key), to, item);
}

/** A copy of a block with keys of its own. */
export function copyItem(item: Item, makeKey: () => number): Item {
  return (toItems(toBlocks([item]), makeKey) as [Item])[0];
}

/** Sets the number of columns. Blocks of a column that goes are put below those of the last that stays. */
export function resizeColumns(item: Item, count: number): Item {
  const columns = item.columns ?? [];
  const kept = Array.from({ length: count }, (_, i) => columns[i] ?? []);
  const last = kept.length - 1;
  return { ...item, columns: kept.map((column, i) => (i === last ? [...column, ...columns.slice(count).flat()] : column)) };
}

/** The path of a block in the API's messages, such as `blocks[2].columns[0].blocks[1]`. */
export function toPath(items: readonly Item[], key: number): string {
  const position = findPosition(items, key);
  if (position === null) return "";
  const { place, at } = position;
  if (place === null) return `blocks[${at}]`;
  return `blocks[${items.findIndex((item) => item.key === place.key)}].columns[${place.column}].blocks[${at}]`;
}

function changeList(items: readonly Item[], place: Place, change: (list: readonly Item[]) => readonly Item[]): readonly Item[] {
  if (place === null) return change(items);
  return items.map((item) =>
    item.key === place.key && item.columns !== undefined
      ? { ...item, columns: item.columns.map((column, i) => (i === place.column ? change(column) : column)) }
      : item,
  );
}
