import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folder } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const BLOCKS = [
  { type: "heading", text: "Hello {{ name }}" },
  { type: "button", label: "Open", href: "https://acme.test" },
];

/** A folder with one template in blocks. */
function shop(blocks: object = BLOCKS): string {
  const cwd = folder();
  const spring = join(cwd, "templates/spring");
  mkdirSync(spring, { recursive: true });
  writeFileSync(join(spring, "template.json"), JSON.stringify({ name: "Spring", kind: "BLOCKS", subject: "S", type: "marketing" }));
  writeFileSync(join(spring, "template.blocks.json"), JSON.stringify(blocks));
  return cwd;
}

test("a folder in blocks is previewed as the server sends it, pushed, and comes back without HTML", async () => {
  const { mailsvc } = await startCliWithServer();
  const cwd = shop();
  const preview = await mailsvc(["templates", "preview", "spring", "--variable", "name=Ada"], { cwd });
  expect(preview.json.html).toContain("Hello Ada</h2>");
  expect((await mailsvc(["templates", "push", "--publish"], { cwd })).code).toBe(0);
  const other = folder();
  await mailsvc(["templates", "pull"], { cwd: other });
  const pulled = join(other, "templates/spring");
  expect(JSON.parse(readFileSync(join(pulled, "template.blocks.json"), "utf8"))).toEqual(BLOCKS);
  expect(existsSync(join(pulled, "template.html"))).toBe(false);
  expect(await mailsvc(["templates", "diff"], { cwd: other })).toMatchObject({ code: 0, json: { changes: [] } });
});

test("a wrong block is told with its field, and exit code 11", async () => {
  const { mailsvc } = await startCliWithServer();
  const refused = await mailsvc(["templates", "push"], { cwd: shop([{ type: "button", label: "Open", href: "javascript:x" }]) });
  expect(refused.code).toBe(11);
  expect(JSON.stringify(refused.json)).toContain("blocks[0].href");
});

test("a file of blocks makes a template by one command", async () => {
  const { mailsvc } = await startCliWithServer();
  const cwd = folder();
  writeFileSync(join(cwd, "spring.json"), JSON.stringify(BLOCKS));
  const made = await mailsvc(["templates", "create", "--name", "File", "--kind", "BLOCKS", "--subject", "S", "--blocks", "@spring.json"], {
    cwd,
  });
  expect(made.json).toMatchObject({ kind: "BLOCKS", source: { blocks: BLOCKS } });
});
