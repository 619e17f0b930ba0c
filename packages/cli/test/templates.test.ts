import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folder, TERMINAL } from "./harness.ts";
import { type Beside, startCliWithServer } from "./world.ts";

const put = (cwd: string, files: Record<string, string>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(cwd, path, ".."), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
};
const json = (value: object): string => JSON.stringify(value);

const SHOP = {
  "templates/order/template.json": json({
    name: "Order",
    category: "shop",
    subject: "Order {{ number }}",
    from: "Shop <shop@acme.example>",
    layout: "frame",
    variables: [{ name: "number", type: "number", description: "Of the order" }],
  }),
  "templates/order/template.html": "<p>Nr {{ number }}</p>\n{{> button url=url}}\n",
  "templates/order/template.txt": "Nr {{ number }}: {{ url }}\n",
  "templates/frame/template.json": json({ name: "Frame", type: "layout" }),
  "templates/frame/template.html": "<body>\n{{{body}}}\n</body>\n",
  "templates/button/template.json": json({ name: "Button", type: "partial" }),
  "templates/button/template.html": '<a href="{{ url }}">Open</a>',
};

const snapshot = (dir: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(dir.length + 1), readFileSync(path, "utf8")]),
  );

const shop = async (): Promise<Beside & { cwd: string }> => {
  const cwd = folder();
  put(cwd, SHOP);
  return { ...(await startCliWithServer()), cwd };
};

describe("templates in a folder", () => {
  test("are pushed with what they use first, sent, and pushed again without a change", async () => {
    const { mailsvc, world, cwd } = await shop();
    const pushed = await mailsvc(["templates", "push", "--publish"], { cwd });
    expect(pushed).toMatchObject({ code: 0, stderr: "" });
    expect(pushed.json).toEqual({
      data: [
        { slug: "button", action: "created", version: 1 },
        { slug: "frame", action: "created", version: 1 },
        { slug: "order", action: "created", version: 1 },
      ],
      unchanged: 0,
      failed: 0,
    });
    const sent = await mailsvc([
      "send",
      "--template",
      "order",
      "--to",
      "ada@example.com",
      "--variable",
      "number:=17",
      "--variable",
      "url=https://acme.test/17",
    ]);
    expect(sent.json).toEqual({ id: expect.stringMatching(/^em_/), status: "queued", template: "order" });
    await world.settle();
    const mail = (await mailsvc(["emails", "get", sent.json.id])).json;
    expect(mail).toMatchObject({
      subject: "Order 17",
      html: '<body>\n<p>Nr 17</p>\n<a href="https://acme.test/17">Open</a>\n</body>\n',
      text: "Nr 17: https://acme.test/17\n",
      template: { slug: "order", version: 1 },
    });
    expect((await mailsvc(["templates", "push", "--publish"], { cwd })).json).toEqual({ data: [], unchanged: 3, failed: 0 });
  });

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

  test("are not changed by a dry run", async () => {
    const { mailsvc, cwd } = await shop();
    const dry = await mailsvc(["templates", "push", "--dry-run"], { cwd });
    expect(dry.json.changes.map((c: { slug: string; change: string }) => [c.slug, c.change])).toEqual([
      ["button", "create"],
      ["frame", "create"],
      ["order", "create"],
    ]);
    expect((await mailsvc(["templates", "list"])).json.data).toEqual([]);
    await mailsvc(["templates", "push"], { cwd });
    const other = folder();
    expect((await mailsvc(["templates", "pull", "--dry-run"], { cwd: other })).json.written).toHaveLength(3);
    expect(existsSync(join(other, "templates"))).toBe(false);
  });

  test("are published later by the same command", async () => {
    const { mailsvc, cwd } = await shop();
    await mailsvc(["templates", "push"], { cwd });
    expect((await mailsvc(["templates", "push", "--publish"], { cwd })).json.data).toEqual([
      { slug: "button", action: "published", version: 1 },
      { slug: "frame", action: "published", version: 1 },
      { slug: "order", action: "published", version: 1 },
    ]);
  });

  test("of which some are refused are pushed but for those: exit 11, file, line and column", async () => {
    const { mailsvc, cwd } = await shop();
    put(cwd, {
      "templates/order/template.html": "<p>\n  {{#if number}}\n",
      "templates/plain/template.json": json({ name: "Plain" }),
      "templates/plain/template.txt": "x",
    });
    const pushed = await mailsvc(["templates", "push"], { cwd });
    expect(pushed.code).toBe(11);
    expect(pushed.json).toMatchObject({
      failed: 1,
      data: expect.arrayContaining([
        { slug: "plain", action: "created", version: null },
        {
          slug: "order",
          action: "failed",
          error: {
            code: "validation_error",
            message: expect.any(String),
            details: [{ path: "order/template.html:2:3", message: "{{#if}} is not closed. Add {{/if}}.", line: 2, column: 3 }],
          },
        },
      ]),
    });
    const shown = await mailsvc(["templates", "push"], { cwd, tty: TERMINAL, env: { NO_COLOR: "1" } });
    expect(shown.stdout).toContain("order/template.html:2:3  {{#if}} is not closed");
  });

  test("that changed on the server since the pull are not overwritten", async () => {
    const { mailsvc, world, cwd } = await shop();
    await mailsvc(["templates", "push"], { cwd });
    put(cwd, { "templates/button/template.html": "<b>mine</b>" });
    let raced = false;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (init?.method === "PATCH" && !raced) {
        raced = true;
        const { data } = await world.sdk.templates.list({ type: "partial" });
        await world.sdk.templates.update(data[0]?.id ?? "", { html: "<b>theirs</b>" });
      }
      return world.fetch(input, init);
    };
    const pushed = await mailsvc(["templates", "push"], { cwd, fetch });
    expect(pushed).toMatchObject({ code: 11, json: { data: [{ slug: "button", action: "failed", error: { code: "conflict" } }] } });
  });

  test("that somebody else changed are refused with exit 11 and left as they are, until they are pulled or forced", async () => {
    const { mailsvc, world, cwd } = await shop();
    await mailsvc(["templates", "push"], { cwd });
    const { data } = await world.sdk.templates.list({ type: "partial" });
    const id = data[0]?.id ?? "";
    const readHtml = async () => (await world.sdk.templates.get(id)).source.html;
    await world.sdk.templates.update(id, { html: "<b>theirs</b>" });
    put(cwd, { "templates/order/template.txt": "mine" });
    const refused = await mailsvc(["templates", "push"], { cwd });
    expect(refused.code).toBe(11);
    expect(refused.json.data).toEqual([
      {
        slug: "button",
        action: "failed",
        error: {
          code: "conflict",
          message: expect.stringContaining("changed on the server since"),
          next: "mailsvc templates diff button",
          details: [],
        },
      },
      { slug: "order", action: "updated", version: null },
    ]);
    expect(await readHtml()).toBe("<b>theirs</b>");
    expect((await mailsvc(["templates", "push", "--dry-run"], { cwd })).json.changes).toEqual([
      { slug: "button", change: "update", fields: ["html"], conflict: "changed" },
    ]);
    // Objects that nobody pulled here must not be overwritten either: another folder has no record of the server's state.
    const other = folder();
    put(other, { ...SHOP, "templates/button/template.html": "<i>other</i>" });
    expect(await mailsvc(["templates", "push", "button"], { cwd: other })).toMatchObject({ code: 11, json: { failed: 1 } });
    expect((await mailsvc(["templates", "push", "button", "--force"], { cwd: other })).code).toBe(0);
    expect(await readHtml()).toBe("<i>other</i>");
    await mailsvc(["templates", "pull", "--yes"], { cwd });
    put(cwd, { "templates/button/template.html": "<b>merged</b>" });
    expect((await mailsvc(["templates", "push"], { cwd })).code).toBe(0);
    expect(await readHtml()).toBe("<b>merged</b>");
  });

  test("that somebody else changed are not deleted by --prune", async () => {
    const { mailsvc, world, cwd } = await shop();
    await mailsvc(["templates", "push"], { cwd });
    const { data } = await world.sdk.templates.list({ search: "Order" });
    await world.sdk.templates.update(data[0]?.id ?? "", { subject: "Theirs" });
    rmSync(join(cwd, "templates/order"), { recursive: true });
    const pruned = await mailsvc(["templates", "push", "--prune", "--yes"], { cwd });
    expect(pruned).toMatchObject({ code: 11, json: { data: [{ slug: "order", action: "failed", error: { code: "conflict" } }] } });
    expect((await mailsvc(["templates", "push", "--prune", "--yes", "--force"], { cwd })).code).toBe(0);
    expect((await world.sdk.templates.list({ search: "Order" })).data).toEqual([]);
  });

  test("that are gone are deleted with --prune only, and only when it is meant", async () => {
    const { mailsvc, cwd } = await shop();
    await mailsvc(["templates", "push", "--publish"], { cwd });
    const lean = folder();
    put(lean, { "templates/other/template.json": json({ name: "Other" }) });
    expect((await mailsvc(["templates", "push"], { cwd: lean })).code).toBe(0);
    expect((await mailsvc(["templates", "list"])).json.pagination.total).toBe(4);
    const asked = await mailsvc(["templates", "push", "--prune"], { cwd: lean });
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain("order");
    expect((await mailsvc(["templates", "push", "order", "--prune"], { cwd })).code).toBe(2);
    const pruned = await mailsvc(["templates", "push", "--prune", "--yes"], { cwd: lean });
    expect(pruned.code).toBe(0);
    expect(pruned.json.data.map((o: { slug: string; action: string }) => [o.slug, o.action])).toEqual([
      ["order", "deleted"],
      ["frame", "deleted"],
      ["button", "deleted"],
    ]);
    const back = await mailsvc(["templates", "pull", "--prune", "--yes"], { cwd });
    expect(back.json).toMatchObject({ written: ["other"], removed: ["button", "frame", "order"] });
    expect(readdirSync(join(cwd, "templates"))).toEqual([".mailsvc-base", "other"]);
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

describe("preview", () => {
  test("shows a template whatever is wrong with those that it does not use, and names the faults of those that it uses", async () => {
    const { mailsvc } = await startCliWithServer();
    const cwd = folder();
    const about = { subject: "Hi", from: "a@acme.example" };
    put(cwd, {
      "templates/good/template.json": json({ ...about, name: "Good", layout: "frame" }),
      "templates/good/template.html": "<p>Good</p>",
      "templates/frame/template.json": json({ name: "Frame", type: "layout" }),
      "templates/frame/template.html": "<body>{{{body}}}</body>",
      "templates/broken/template.json": "{",
      // MJML is not installed there.
      "templates/other/template.json": json({ ...about, name: "Other" }),
      "templates/other/template.mjml": "<mjml/>",
    });
    const shown = await mailsvc(["templates", "preview", "good"], { cwd });
    expect([shown.code, shown.json.html]).toEqual([0, "<body><p>Good</p></body>"]);
    put(cwd, { "templates/frame/template.json": "{" });
    const failed = await mailsvc(["templates", "preview", "good"], { cwd });
    expect([failed.code, failed.stderr]).toEqual([3, expect.stringContaining("frame/template.json  This is not JSON")]);
    expect(failed.stderr).not.toContain("broken/");
  });

  const VALUES = ["--variable", "number:=17", "--variable", "url=https://acme.test/17"];

  test("renders files with the parts next to them, before anything is pushed", async () => {
    const { mailsvc, world, cwd } = await shop();
    const shown = await mailsvc(["templates", "preview", "order", ...VALUES], { cwd });
    expect(shown.json).toMatchObject({ subject: "Order 17", text: "Nr 17: https://acme.test/17\n", missingVariables: [] });
    const html = '<body>\n<p>Nr 17</p>\n<a href="https://acme.test/17">Open</a>\n</body>\n';
    expect((await mailsvc(["templates", "preview", "templates/order", ...VALUES, "--html"], { cwd })).stdout).toBe(html);
    expect((await mailsvc(["templates", "preview", "order", ...VALUES, "--text"], { cwd })).stdout).toBe("Nr 17: https://acme.test/17\n");
    expect((await mailsvc(["templates", "preview", "order", ...VALUES, "--out", "out.html"], { cwd })).code).toBe(0);
    expect(readFileSync(join(cwd, "out.html"), "utf8")).toBe(html);
    expect((await world.sdk.templates.list()).pagination.total).toBe(0);
  });

  test("renders a template of the server by its id, and says what is missing", async () => {
    const { mailsvc, world, cwd } = await shop();
    await mailsvc(["templates", "push"], { cwd });
    const { data } = await world.sdk.templates.list({ search: "Order" });
    const shown = await mailsvc(["templates", "preview", data[0]?.id ?? ""], { tty: TERMINAL, env: { NO_COLOR: "1" } });
    expect(shown.stdout).toContain("Order {{number}}");
    expect(shown.stderr).toContain("missing number, url");
  });

  test("names the line of a fault, and a slug that is not there", async () => {
    const { mailsvc, cwd } = await shop();
    put(cwd, { "templates/order/template.html": "a\n{{ upper }}}" });
    const failed = await mailsvc(["templates", "preview", "order"], { cwd });
    expect(failed.code).toBe(3);
    expect(failed.stderr).toContain("Line 2");
    expect((await mailsvc(["templates", "preview", "nowhere"], { cwd })).code).toBe(2);
  });
});

describe("at a terminal", () => {
  test("lists, details, versions and variables are tables", async () => {
    const { mailsvc, world, cwd } = await shop();
    await mailsvc(["templates", "push", "--publish"], { cwd });
    const at = { tty: TERMINAL, env: { NO_COLOR: "1" }, columns: 120 };
    const list = await mailsvc(["templates", "list"], at);
    expect(list.stdout).toMatch(/ID +SLUG +NAME +TYPE +STATE/);
    expect(list.stdout).toMatch(/order +Order +transactional +v1/);
    const { data } = await world.sdk.templates.list({ search: "Order" });
    const id = data[0]?.id ?? "";
    expect((await mailsvc(["templates", "get", id], at)).stdout).toMatch(/number +number +yes +– +Of the order/);
    expect((await mailsvc(["templates", "versions", id], at)).stdout).toMatch(/1 +current +Order/);
    expect((await mailsvc(["templates", "get-by-slug", "order"], at)).stdout).toContain("VARIABLE");
    expect(
      (
        await mailsvc(
          ["send", "--template", "order", "--to", "a@x.test", "--variable", "number:=1", "--variable", "url=https://x.test"],
          at,
        )
      ).stdout,
    ).toMatch(/^queued em_\w+\n$/);
    expect((await mailsvc(["send", "--template", "order", "--to", "a@x.test"], at)).stderr).toContain("number");
    expect((await mailsvc(["templates", "archive", id], at)).stdout).toContain("inactive");
  });
});
