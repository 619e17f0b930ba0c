import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";
import { listEntries, listRoutes } from "../packages/dashboard/test/routes.ts";
import { anchorOf } from "../scripts/anchor.mjs";
import { tableUnder } from "./markdown.ts";
import { root, sources } from "./support/sources.ts";

// Pages name code, and code names pages: each name leads somewhere.

const S = "packages/server/src";

const PAGES = "{*.md,docs/decisions/*.md,{packages,examples}/*/README.md,packages/*/src/**/README.md,{bench,packaging}/*.md}";

/** The paths in backticks of a page that lead into the repository: they start in one of its folders, or name a source file in a folder. */
const pathsOf = (page: string): string[] =>
  [...page.matchAll(/`([\w.*-]+(?:\/[\w.*-]+)+)\/?`/g)]
    .map(([, path]) => path as string)
    .filter((path) => /^(packages|scripts|packaging|test|bench|docs|site|examples)\/|\.(tsx?|mjs|cjs|sh)$/.test(path));

/** True if a path exists: from the top, from the folder of its page, or as the end of a path, as in `providers/connections.ts`. */
const exists = (path: string, page: string): boolean =>
  [path, posix.join(posix.dirname(page), path), `packages/*/{src,src/**}/${path}`].some(
    (pattern) => globSync(pattern, { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] }).length > 0,
  );

test("every path that a page names exists", () => {
  const named = globSync(PAGES, { cwd: root, exclude: ["**/node_modules/**"] })
    .map((page) => page.replaceAll("\\", "/"))
    .flatMap((page) => pathsOf(readFileSync(`${root}/${page}`, "utf8")).map((path) => ({ page, path })));
  expect(named.filter(({ page }) => page === "ARCHITECTURE.md").length).toBeGreaterThan(15);
  expect(named.filter(({ page, path }) => !exists(path, page)).map(({ page, path }) => `${page}: ${path}`)).toEqual([]);
});

test.each(["sqlite", "postgres"])("the README of db/%s has every file of its folder", (folder) => {
  const named = tableUnder(`${root}/${S}/db/${folder}/README.md`, folder === "sqlite" ? "SQLite" : "Postgres").flatMap(
    ([files = ""]) => files.match(/(?<=`)[\w./-]+(?=`)/g) ?? [],
  );
  const files = globSync("*.ts", { cwd: `${root}/${S}/db/${folder}` }).filter((file) => !/\.test\.ts$/.test(file));
  expect(named.filter((file) => !file.includes("/")).sort()).toEqual(files.sort());
});

test("every term of the glossary occurs in the sources", () => {
  // As words: names in camel case and comments of several lines, too.
  const text = [...sources.values()]
    .join("\n")
    .replace(/(?<=[a-z])(?=[A-Z])/g, " ")
    .replace(/[\s*/_-]+/g, " ")
    .toLowerCase();
  const occurs = (term: string): boolean => text.includes(term.toLowerCase().replace(/[`*]/g, "").replaceAll("-", " "));
  const rows = tableUnder(`${root}/ARCHITECTURE.md`, "Glossary").map(([terms = ""]) => terms);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((terms) => !terms.split(", ").some(occurs))).toEqual([]);
});

test("every page and heading that a comment names exists", () => {
  const links = [...sources].flatMap(([file, source]) =>
    [...source.matchAll(/\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g)].map(([link]) => ({ file, link })),
  );
  expect(links.length).toBeGreaterThan(10);
  const anchors = new Map<string, Set<string>>();
  const isThere = (link: string): boolean => {
    const [page = "", anchor] = link.split("#");
    if (!existsSync(`${root}/${page}`)) return false;
    if (!anchors.has(page)) {
      const headings = readFileSync(`${root}/${page}`, "utf8").matchAll(/^#{1,4} (.+)$/gm);
      anchors.set(page, new Set([...headings].map(([, heading]) => anchorOf(heading as string))));
    }
    return anchor === undefined || (anchors.get(page)?.has(anchor) ?? false);
  };
  expect(links.filter(({ link }) => !isThere(link)).map(({ file, link }) => `${file}: ${link}`)).toEqual([]);
});

test("decisions are numbered from 1, each number once and in its title", () => {
  const files = globSync("docs/decisions/*.md", { cwd: root })
    .map((path) => posix.basename(path.replaceAll("\\", "/")))
    .sort();
  expect(files.map((file) => Number(file.slice(0, 4)))).toEqual(files.map((_, i) => i + 1));
  const titles = files.map((file) => readFileSync(`${root}/docs/decisions/${file}`, "utf8").split(" ", 2).join(" "));
  expect(titles).toEqual(files.map((_, i) => `# ${i + 1}.`));
});

test("the changelog has one line for each entry", () => {
  const lines = readFileSync(`${root}/CHANGELOG.md`, "utf8").split("\n");
  expect(lines.filter((line) => /^( |#{4})/.test(line))).toEqual([]);
});

test("the map of the marketplace names its modules and their files", () => {
  const folder = `${root}/${S}/marketplace`;
  const map = /^ \* Modules[\s\S]*?^ \* Three rules/m.exec(readFileSync(`${folder}/marketplace.ts`, "utf8"))?.[0] ?? "";
  const modules = [...map.matchAll(/^ \* {3}([a-z-]+) {2,}(.*(?:\n \* {10,}.*)*)/gm)].map(
    ([, module, text]) => [module as string, text as string] as const,
  );
  const folders = globSync("*/", { cwd: folder }).map((path) => path.replace(/[\\/]$/, ""));
  expect(modules.map(([module]) => module).sort()).toEqual(folders.sort());
  const missing = modules.flatMap(([module, text]) =>
    [...text.matchAll(/[\w-]+\.ts/g)].map(([file]) => `${module}/${file}`).filter((path) => !existsSync(`${folder}/${path}`)),
  );
  expect(missing).toEqual([]);
});

/** The page that leads to each page of the dashboard that is not below an entry of the navigation. */
const REACHED_FROM: Readonly<Record<string, string>> = { "/install/:slug": "/catalog/:slug" };

test("every page of the dashboard is below an entry of the navigation, which knows its permission", () => {
  const entries = listEntries();
  expect(entries.length).toBeGreaterThan(30);
  const isBelow = (route: string): boolean => entries.some((path) => route === path || route.startsWith(`${path}/`));
  const apart = listRoutes().filter((route) => !isBelow(route));
  expect(apart, "Add the page to NAVIGATION in packages/dashboard/src/routes.ts.").toEqual(Object.keys(REACHED_FROM));
  expect(entries.filter((path) => !listRoutes().includes(path))).toEqual([]);
});
