import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PUBLISHED } from "../scripts/published.mjs";
import { writeForPrograms } from "../site/.vitepress/for-programs.mjs";
import { anchorsOf } from "./markdown.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

describe("the files of the site for programs", () => {
  let out = "";
  let written: readonly string[] = [];
  beforeAll(() => {
    out = mkdtempSync(join(tmpdir(), "mailsvc-for-programs-"));
    written = writeForPrograms(out);
  });
  afterAll(() => rmSync(out, { recursive: true, force: true }));
  const read = (file: string): string => readFileSync(join(out, file), "utf8");

  test("are all pages as Markdown, with links that lead to others of them", () => {
    const guides = globSync(["docs/*.md", "docs/{start,recipes,moving,reference}/*.md"], { cwd: root }).map((file) =>
      file.replace("docs/", ""),
    );
    expect(written).toEqual(expect.arrayContaining(guides));
    const broken = written
      .filter((file) => file !== "changelog.md")
      .flatMap((file) =>
        [...read(file).matchAll(/\]\(\/([^)#\s]+)/g)]
          .filter(([, target = ""]) => !existsSync(join(out, target)))
          .map(([link]) => `${file}: ${link}`),
      )
      .filter((link) => !/openapi\.json|prometheus-rules|grafana-dashboard|\/install/.test(link));
    expect(broken).toEqual([]);
  });

  test("llms.txt names each page of the guide with what it is about, and is short", () => {
    const text = read("llms.txt");
    expect(text).toMatch(/^# mailsvc\n\n> /);
    expect(text).toMatch(/^- \[Webhooks\]\(\/webhooks\.md\): .+\.$/m);
    expect(text.length).toBeLessThan(20_000);
  });

  test("llms-full.txt holds the guide", () => {
    const text = read("llms-full.txt");
    for (const title of ["# Testing", "# Webhooks", "# Self-hosting", "# Questions"]) expect(text).toContain(`\n${title}\n`);
  });
});

test("every question leads to a section that is there", () => {
  const text = readFileSync(join(root, "docs/questions.md"), "utf8");
  const links = [...text.matchAll(/^- \[.+?\]\(([^)#]+)(?:#([^)]+))?\)/gm)];
  expect(links.length).toBeGreaterThan(100);
  for (const [line, page = "", anchor] of links) {
    expect(existsSync(join(root, "docs", page)), line).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(join(root, "docs", page)), line).toContain(anchor);
  }
});

test.each(PUBLISHED)("%s is published with an AGENTS.md", (name) => {
  const manifest = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")) as { files: string[] };
  expect(manifest.files).toContain("AGENTS.md");
  expect(readFileSync(join(root, "packages", name, "AGENTS.md"), "utf8").length).toBeLessThan(4000);
});
