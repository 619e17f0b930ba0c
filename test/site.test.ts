import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const site = join(root, "build/site");
const read = (file: string): string => readFileSync(join(site, file), "utf8");

let pages: readonly string[] = [];

/** The values of an attribute in a page, entities resolved. */
const attributes = (html: string, name: string): string[] =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value]) => (value as string).replaceAll("&amp;", "&"));

beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(root, "scripts/site.mjs"), "build"], { cwd: root });
  pages = globSync("**/*.html", { cwd: site });
}, 900_000);

describe("the site of the documentation", () => {
  test("has every page of docs, and each of them in its sidebar", () => {
    const sources = globSync(["docs/*.md", "docs/{start,recipes,moving,reference}/*.md"], { cwd: root }).map((file) =>
      file.replace(/^docs\//, "").replace(/\.md$/, ".html"),
    );
    expect(pages).toEqual(expect.arrayContaining(sources));
    const inSidebar = ["index.html", "reference.html"].flatMap((page) => attributes(read(page), "href"));
    const missing = sources.filter((page) => !inSidebar.includes(`/${page.replace(/(^|\/)index\.html$/, "$1")}`));
    expect(missing).toEqual([]);
  });

  test("has no link that leads nowhere, nor to an anchor that is not there", () => {
    const ids = new Map(pages.map((page) => [page, new Set(attributes(read(page), "id"))]));
    const broken = pages.flatMap((page) =>
      attributes(read(page), "href")
        .filter((href) => {
          if (/^[a-z]+:/.test(href)) return false;
          const { pathname, hash } = new URL(href, `http://site/${page}`);
          const path = decodeURIComponent(pathname)
            .slice(1)
            .replace(/(^|\/)$/, "$1index.html");
          const anchor = decodeURIComponent(hash.slice(1));
          return !existsSync(join(site, path)) || (anchor !== "" && !ids.get(path)?.has(anchor));
        })
        .map((href) => `${page}: ${href}`),
    );
    expect(broken).toEqual([]);
  });

  test("has no page that no other page links to", () => {
    const linked = pages.flatMap((page) => attributes(read(page), "href").map((href) => new URL(href, `http://site/${page}`).pathname));
    const unlinked = pages.filter((page) => page !== "404.html" && !linked.includes(`/${page.replace(/(^|\/)index\.html$/, "$1")}`));
    expect(unlinked).toEqual([]);
  });

  test("shows no character as its entity", () => {
    for (const page of pages) expect(read(page), page).not.toMatch(/&amp;(?:lt|gt|amp|quot|#\d+);/);
  });

  test("asks no other server for anything", () => {
    const foreign = /^(?:https?:)?\/\//;
    for (const page of pages) {
      const html = read(page);
      expect(
        attributes(html, "src").filter((src) => foreign.test(src)),
        page,
      ).toEqual([]);
      const loaded = [...html.matchAll(/<link\b[^>]*>/g)].flatMap(([tag]) => attributes(tag, "href"));
      expect(
        loaded.filter((href) => foreign.test(href)),
        page,
      ).toEqual([]);
    }
    for (const style of globSync("**/*.css", { cwd: site })) {
      const targets = [...read(style).matchAll(/(?:url\(|@import )["']?([^"')]+)/g)].map(([, target]) => target as string);
      expect(
        targets.filter((target) => foreign.test(target)),
        style,
      ).toEqual([]);
    }
  });

  test("finds its pages without a server", () => {
    const [index] = globSync("assets/chunks/@localSearchIndex*.js", { cwd: site });
    expect(read(index as string)).toContain("Simulated recipients");
  });

  test("shows named blocks as tabs", () => {
    const html = read("start/terminal.html");
    expect(attributes(html, "data-title").slice(0, 3)).toEqual(["Command line", "curl", "SDK"]);
    expect(existsSync(join(site, dirname("openapi.json"), "openapi.json"))).toBe(true);
  });

  test("has each page as Markdown, and lists them for programs", () => {
    // Pages about the project's own tests are for those who read its code.
    const isOfTests = (page: string): boolean => page.startsWith("test/");
    const missing = pages.filter(
      (page) => page !== "404.html" && !isOfTests(page) && !existsSync(join(site, page.replace(/\.html$/, ".md"))),
    );
    expect(missing).toEqual([]);
    expect(read("llms.txt")).toContain("(/questions.md)");
    expect(read("llms-full.txt")).toContain("# Questions");
  });
});
