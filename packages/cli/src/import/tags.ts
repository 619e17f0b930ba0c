/** Tags as one cell: `vip; beta`. One that holds a separator or a quote stands in quotes. */
export function joinTags(tags: readonly string[]): string {
  return tags.map((tag) => (/[;,"]/.test(tag) ? `"${tag.replaceAll('"', '""')}"` : tag)).join("; ");
}

const TAG = /\s*(?:"((?:[^"]|"")*)"\s*(?=[;,]|$)|([^;,]*))(?:[;,]|$)/y;

/** The tags of a cell, separated by ; or , — what stands in quotes is one tag. Empty ones are left out. */
export function splitTags(cell: string): string[] {
  const tags: string[] = [];
  TAG.lastIndex = 0;
  while (TAG.lastIndex < cell.length) {
    const [, quoted, plain = ""] = TAG.exec(cell) ?? [];
    const tag = quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"');
    if (tag !== "") tags.push(tag);
  }
  return tags;
}
