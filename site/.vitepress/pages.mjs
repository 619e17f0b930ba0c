// Which file of the repository becomes which page of the site.
import { existsSync, globSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

const RULES = [
  [/^docs\/(.+\.md)$/, "$1"],
  [/^(ARCHITECTURE|CHANGELOG|CONTRIBUTING)\.md$/, (_, name) => `${name.toLowerCase()}.md`],
  [/^SECURITY\.md$/, "reporting.md"],
  [/^examples\/README\.md$/, "examples/index.md"],
  [/^examples\/([^/]+)\/README\.md$/, "examples/$1.md"],
  [/^packages\/sdk\/README\.md$/, "sdk.md"],
];

/** The page of a file, both as paths; null if the file is no page. */
export function pageOf(file) {
  for (const [pattern, page] of RULES) if (pattern.test(file)) return file.replace(pattern, page);
  return null;
}

/** Files that the build finds but leaves out: all that no rule makes a page. */
export const EXCLUDED = globSync("**/*.md", { cwd: root, exclude: ["**/node_modules/**"] }).filter((file) => pageOf(file) === null);

/**
 * Where a link of a file leads on the site: a path from its top, `#anchor` included. A folder stands for its README. Null if the target is
 * not part of the site. Links to other sites and within the page stay as they are.
 */
export function targetOf(file, href) {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [path, anchor] = href.split("#");
  const target = posix.join(posix.dirname(file), path);
  if (target === "openapi.json") return "/openapi.json";
  const page = pageOf(existsSync(`${root}${target}/README.md`) ? `${target}/README.md` : target);
  return page === null ? null : `/${page}${anchor === undefined ? "" : `#${anchor}`}`;
}
