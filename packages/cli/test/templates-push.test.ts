import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folder, TERMINAL } from "./harness.ts";
import { json, put, SHOP, shop } from "./template-folder.ts";

describe("templates that are pushed from a folder", () => {
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
});
