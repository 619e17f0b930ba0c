import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const PAGES = globSync(["*.md", "docs/**/*.md", "packages/*/README.md", "examples/*/README.md"], { cwd: root }).sort();

const read = (path: string): string => readFileSync(path, "utf8").replaceAll(/^```.*?^```$/gms, "");

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (path: string): Set<string> => {
  const seen = new Map<string, number>();
  return new Set(
    [...read(path).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
      const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
      const anchor = text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
        .replaceAll(" ", "-");
      const count = seen.get(anchor) ?? 0;
      seen.set(anchor, count + 1);
      return count === 0 ? anchor : `${anchor}-${count}`;
    }),
  );
};

test.each(PAGES)("every link of %s leads to a file and a heading that exist", (page) => {
  const path = join(root, page);
  const broken = [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)\s]*)\)/g)].flatMap(([, link = ""]) => {
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? path : join(dirname(path), file);
    if (!existsSync(target)) return [`${link}: no such file`];
    return anchor === undefined || anchorsOf(target).has(anchor) ? [] : [`${link}: no such heading in ${relative(root, target)}`];
  });
  expect(broken).toEqual([]);
});
