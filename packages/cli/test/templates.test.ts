import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folder, TERMINAL } from "./harness.ts";
import { json, put, SHOP, shop, snapshot } from "./template-folder.ts";
import { startCliWithServer } from "./world.ts";

describe("templates in a folder", () => {
  test("come back as they were: push, pull elsewhere, no difference, byte for byte", async () => {
    const { mailsvc, cwd } = await shop();
    put(cwd, {
      "templates/blocks/template.json": json({
        name: "Blocks",
        kind: "JSON_BLOCKS",
        subject: "S",
        type: "marketing",
        description: "Ä \u2028 \u{1f600}",
      }),
      "templates/blocks/template.blocks.json": '[{"type":"text","value":"x"}]',
    });
    // A line separator is no character of one line.
    expect((await mailsvc(["templates", "push"], { cwd })).code).toBe(11);
    put(cwd, {
      "templates/blocks/template.json": json({
        name: "Blocks",
        kind: "JSON_BLOCKS",
        subject: "S",
        type: "marketing",
        description: "Ä \u{1f600}",
      }),
    });
    expect((await mailsvc(["templates", "push"], { cwd })).code).toBe(0);
    const other = folder();
    const pulled = await mailsvc(["templates", "pull", "--dir", "mails"], { cwd: other });
    expect(pulled.json).toMatchObject({ written: ["blocks", "button", "frame", "order"], removed: [], unchanged: 0 });
    expect(await mailsvc(["templates", "diff", "--dir", "mails"], { cwd: other })).toMatchObject({ code: 0, json: { changes: [] } });
    expect(await mailsvc(["templates", "diff"], { cwd })).toMatchObject({ code: 0 });
    const here = snapshot(join(cwd, "templates"));
    const there = snapshot(join(other, "mails"));
    expect(Object.keys(there)).toEqual(Object.keys(here));
    for (const path of Object.keys(here).filter((name) => /\.(?:html|txt)$/.test(name))) expect(there[path]).toBe(here[path]);
    for (const path of Object.keys(here).filter((name) => name.endsWith(".json")))
      expect(JSON.parse(there[path] ?? "")).toMatchObject(JSON.parse(here[path] ?? ""));
    expect((await mailsvc(["templates", "pull", "--dir", "mails"], { cwd: other })).json).toMatchObject({ written: [], unchanged: 4 });
  });

  test("differ by field and line, with exit code 1", async () => {
    const { mailsvc, cwd } = await shop();
    await mailsvc(["templates", "push"], { cwd });
    put(cwd, {
      "templates/order/template.html": "<p>No. {{ number }}</p>\n{{> button url=url}}\n",
      "templates/new/template.json": json({ name: "New" }),
    });
    await mailsvc(["templates", "create", "--name", "Elsewhere"]);
    const differs = await mailsvc(["templates", "diff"], { cwd });
    expect(differs.code).toBe(1);
    expect(differs.json.changes).toEqual([
      { slug: "new", change: "create", fields: [] },
      { slug: "order", change: "update", fields: ["html"] },
      { slug: "elsewhere", change: "delete", fields: [] },
    ]);
    const shown = await mailsvc(["templates", "diff", "order"], { cwd, tty: TERMINAL, env: { NO_COLOR: "1" } });
    expect(shown.stdout).toBe(
      "~ update order  html\n  html\n    - <p>Nr {{ number }}</p>\n    + <p>No. {{ number }}</p>\n      {{> button url=url}}\n      \n",
    );
    expect(shown.code).toBe(1);
  });

  test("that were changed here are not replaced by a pull without being asked", async () => {
    const { mailsvc, cwd } = await shop();
    await mailsvc(["templates", "push"], { cwd });
    put(cwd, { "templates/order/template.txt": "mine" });
    const asked = await mailsvc(["templates", "pull"], { cwd });
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain("order");
    expect(readFileSync(join(cwd, "templates/order/template.txt"), "utf8")).toBe("mine");
    const no = await mailsvc(["templates", "pull"], { cwd, tty: TERMINAL, answers: ["n"] });
    expect(no.code).toBe(130);
    expect((await mailsvc(["templates", "pull", "order", "--yes"], { cwd })).json.written).toEqual(["order"]);
    expect(readFileSync(join(cwd, "templates/order/template.txt"), "utf8")).toBe(SHOP["templates/order/template.txt"]);
  });

  test("that are not there are a fault of usage", async () => {
    const { mailsvc } = await startCliWithServer();
    const pushed = await mailsvc(["templates", "push"], { cwd: folder() });
    expect(pushed).toMatchObject({ code: 2, stderr: expect.stringContaining("No templates found in") });
  });

  test.each([
    ["a name of a folder that is no slug", { "templates/Über/template.json": "{}" }, "name of the folder is the slug"],
    ["broken JSON", { "templates/a/template.json": "{" }, "a/template.json"],
    ["a list in place of an object", { "templates/a/template.json": "[]" }, "JSON object"],
    ["a field nobody knows", { "templates/a/template.json": '{"name":"x","colour":1}' }, "colour"],
    ["a slug in the file", { "templates/a/template.json": '{"name":"x","slug":"../b"}' }, "slug"],
    ["no name", { "templates/a/template.json": "{}" }, "a/template.json: name"],
    ["U+0000 in the HTML", { "templates/a/template.json": '{"name":"x"}', "templates/a/template.html": "\0" }, "a/template.html"],
  ])("with %s are told and left out, and the others are pushed", async (_what, files, message) => {
    const { mailsvc, world } = await startCliWithServer();
    const cwd = folder();
    put(cwd, { ...files, "templates/good/template.json": json({ name: "Good" }) } as Record<string, string>);
    const compared = await mailsvc(["templates", "diff"], { cwd });
    expect([compared.code, compared.json.changes]).toEqual([11, [expect.objectContaining({ slug: "good", change: "create" })]]);
    expect(compared.stderr).toContain(message);
    const pushed = await mailsvc(["templates", "push"], { cwd });
    expect([pushed.code, pushed.json.failed]).toEqual([11, 1]);
    expect(JSON.stringify(pushed.json.data[0].error.details)).toContain(message);
    expect((await world.sdk.templates.list()).data.map(({ slug }) => slug)).toEqual(["good"]);
    // Replacing or removing files of the folder needs all of it to be readable.
    expect(await mailsvc(["templates", "pull", "--yes"], { cwd })).toMatchObject({ code: 3, stderr: expect.stringContaining(message) });
  });

  test.each(["../evil", "..", "a/b", "/etc/x", "a\\b", ".git", "CON.", ""])(
    "a server whose slug is %j writes nothing outside of the folder",
    async (slug) => {
      const { mailsvc, world } = await startCliWithServer();
      const { id } = await world.sdk.templates.create({ name: "x", slug: "good", html: "<p>x</p>" });
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const answer = await world.fetch(input, init);
        return new Response((await answer.text()).replaceAll('"good"', JSON.stringify(slug)), answer);
      };
      const cwd = folder();
      mkdirSync(join(cwd, "in"));
      const pulled = await mailsvc(["templates", "pull", "--yes", "--dir", "in/templates"], { cwd, fetch });
      expect(pulled.code).not.toBe(0);
      expect(snapshot(cwd)).toEqual({});
      expect(id).toMatch(/^tpl_/);
    },
  );

  test.each([
    ["a file", "templates/leak/template.html", "secret.html"],
    ["a description", "templates/leak/template.json", "secret.json"],
    ["the folder of a template", "templates/leak", "outside"],
    ["the folder of all", "templates", "all"],
  ])("%s that is a link is not uploaded", async (_what, link, target) => {
    const { mailsvc, world } = await startCliWithServer();
    const cwd = folder();
    const secret = { "template.json": json({ name: "secret" }), "template.html": "secret" };
    put(cwd, { "secret.html": "secret", "secret.json": json({ name: "secret" }) });
    for (const [name, text] of Object.entries(secret)) put(cwd, { [`outside/${name}`]: text, [`all/leak/${name}`]: text });
    if (target.startsWith("secret")) put(cwd, { "templates/leak/template.json": json({ name: "x" }) });
    rmSync(join(cwd, link), { force: true });
    mkdirSync(join(cwd, link, ".."), { recursive: true });
    symlinkSync(join(cwd, target), join(cwd, link));
    const isFolder = link === "templates";
    if (!isFolder) put(cwd, { "templates/honest/template.json": json({ name: "Honest" }), "templates/honest/template.html": "<p>x</p>" });
    for (const args of [["push"], ["push", "leak"], ["preview", "leak"]]) {
      const refused = await mailsvc(["templates", ...args], { cwd });
      expect(refused.code).toBe(isFolder || args[0] === "preview" ? 2 : 11);
      expect(`${refused.stdout}${refused.stderr}`).toContain("is a symbolic link");
    }
    expect((await world.sdk.templates.list()).data.map(({ slug }) => slug)).toEqual(isFolder ? [] : ["honest"]);
  });

  test("a link in the folder is not followed", async () => {
    const { mailsvc, world } = await startCliWithServer();
    await world.sdk.templates.create({ name: "x", slug: "good", html: "<p>x</p>" });
    const cwd = folder();
    mkdirSync(join(cwd, "outside"));
    mkdirSync(join(cwd, "templates"));
    symlinkSync(join(cwd, "outside"), join(cwd, "templates/good"));
    const pulled = await mailsvc(["templates", "pull", "--yes"], { cwd });
    expect(pulled).toMatchObject({ code: 2, stderr: expect.stringContaining("is a symbolic link") });
    expect(readdirSync(join(cwd, "outside"))).toEqual([]);
  });
});
