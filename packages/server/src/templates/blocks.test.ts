import type { MailBlock } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const BLOCKS: MailBlock[] = [
  { type: "heading", text: 'Hello {{default firstName "there"}}' },
  { type: "text", text: "Look at <b>this</b>, **{{plan}}**." },
  { type: "button", label: "Open", href: "{{shopUrl}}" },
];

const create = (world: TestWorld, more: Record<string, unknown> = {}) =>
  world.sdk.templates.create({
    ...{ name: "Spring", kind: "BLOCKS", subject: "Hi", from: "Acme <hello@acme.test>", blocks: BLOCKS },
    ...more,
  } as Parameters<TestWorld["sdk"]["templates"]["create"]>[0]);

describe("a template of blocks", () => {
  test("is rendered by the server, and its preview, test and send are the same mail", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const template = await create(world, { publish: true });
    expect(template).toMatchObject({ kind: "BLOCKS", renderError: null, source: { blocks: BLOCKS } });
    expect(template.variables.map(({ name }) => name)).toEqual(["firstName", "plan", "shopUrl"]);
    const variables = { firstName: "<i>Ada</i>", plan: "gold", shopUrl: "https://acme.example/?a=1&b=2" };
    const preview = await sdk.templates.preview(template.id, { variables });
    expect(preview.html).toContain("Hello &lt;i&gt;Ada&lt;/i&gt;</h2>");
    expect(preview.html).toContain("Look at &lt;b&gt;this&lt;/b&gt;, <strong>gold</strong>.");
    expect(preview.html).toContain('href="https://acme.example/?a&#x3D;1&amp;b&#x3D;2"');
    expect(preview.text).toContain("Open (https://acme.example/?a=1&b=2)");
    expect(await sdk.templates.render({ subject: "Hi", blocks: BLOCKS, variables })).toMatchObject({
      html: preview.html,
      text: preview.text,
    });
    await sdk.templates.send("spring", { to: "ada@x.test", variables });
    await sdk.templates.test(template.id, { to: "bob@x.test", variables });
    await world.settle();
    const mails = await Promise.all((await world.inbox.all()).map(({ id }) => world.inbox.get(id)));
    expect(mails.map(({ html }) => `${html?.trimEnd()}\n`)).toEqual([preview.html, preview.html]);
    await expect(
      sdk.templates.send("spring", { to: "a@x.test", variables: { ...variables, shopUrl: "javascript:x" } }),
    ).rejects.toMatchObject({
      code: "template_error",
    });
  });

  test("has nothing that lint objects to", async () => {
    await using world = await createWorld();
    const { id } = await create(world, {
      type: "marketing",
      text: "Hello",
      blocks: [...BLOCKS, { type: "text", text: "[Unsubscribe]({{unsubscribeUrl}})" }],
    });
    const { findings } = await world.sdk.lint.check({
      template: id,
      rules: { "preheader-missing": "off" },
    });
    expect(findings.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([]);
  });

  test.each([
    ["a link that runs something", { type: "button", label: "x", href: "javascript:alert(1)" }, "blocks[0].href", "invalid_url"],
    ["an unknown block", { type: "video" }, "blocks[0].type", undefined],
    ["a field that it does not have", { type: "divider", text: "x" }, "blocks[0].text", "unknown_field"],
    ["a missing field", { type: "heading" }, "blocks[0].text", "required"],
    ["three braces", { type: "heading", text: "{{{name}}}" }, "blocks[0].text", "unsafe_variable"],
    ["an open block", { type: "text", text: "{{#if vip}}yes" }, "blocks[0].text", undefined],
    ["an open variable", { type: "heading", text: "Hi {{name" }, "blocks[0].text", undefined],
    ["an unknown helper", { type: "image", src: "https://a.example/{{shout x}}", alt: "" }, "blocks[0].src", "unknown_helper"],
    ["a scheme from a value", { type: "button", label: "x", href: "{{scheme}}://x" }, "blocks[0].href", "unsafe_place"],
    [
      "a fault in a column",
      { type: "columns", columns: [{ blocks: [] }, { blocks: [{ type: "heading", text: "{{#each}}" }] }] },
      "blocks[0].columns[1].blocks[0].text",
      undefined,
    ],
  ])("is refused for %s, with the block and the field", async (_name, block, path, code) => {
    await using world = await createWorld();
    const request = { path: "/api/v1/templates", body: { name: "A", kind: "BLOCKS", subject: "S", blocks: [block] } };
    const response = await ask(world, request);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "validation_error", details: [{ path, ...(code && { code }) }] } });
    const good = await create(world);
    await expect(world.sdk.templates.update(good.id, { blocks: [block] })).rejects.toMatchObject({ details: [{ path }] });
  });

  test("may lack a link while it is a draft, and is not published without it", async () => {
    await using world = await createWorld();
    const { id } = await create(world, { blocks: [{ type: "button", label: "Open", href: "" }] });
    await expect(world.sdk.templates.publish(id)).rejects.toMatchObject({
      code: "validation_error",
      details: [{ path: "blocks[0].href", code: "required" }],
    });
    await world.sdk.templates.update(id, { blocks: [] });
    await expect(world.sdk.templates.publish(id)).rejects.toMatchObject({ details: [{ path: "blocks", code: "required" }] });
  });

  test("takes no HTML, layout or part, and no other kind takes its blocks", async () => {
    await using world = await createWorld();
    await expect(create(world, { html: "<p>x</p>" })).rejects.toMatchObject({ details: [{ path: "html", code: "not_allowed" }] });
    await expect(create(world, { layout: "frame" })).rejects.toMatchObject({ details: [{ path: "layout", code: "not_allowed" }] });
    await expect(create(world, { type: "partial", subject: undefined, from: undefined })).rejects.toMatchObject({
      details: [{ path: "kind" }],
    });
    await expect(world.sdk.templates.create({ name: "H", blocks: BLOCKS })).rejects.toMatchObject({ details: [{ path: "blocks" }] });
    await expect(world.sdk.templates.render({ html: "x", blocks: BLOCKS })).rejects.toMatchObject({ details: [{ path: "blocks" }] });
  });

  test("becomes HTML for good, with the mail it was, and goes back to a version as HTML", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const { id, source } = await create(world, { publish: true });
    const html = await sdk.templates.update(id, { kind: "HTML", publish: true });
    expect(html).toMatchObject({ kind: "HTML", source: { html: source.html, blocks: null } });
    await sdk.templates.update(id, { html: "<p>Other</p>", publish: true });
    await sdk.templates.rollback(id, { version: 1 });
    expect(await sdk.templates.get(id)).toMatchObject({ kind: "HTML", renderError: null, source: { html: source.html, blocks: null } });
    const kept = await create(world, { name: "K", kind: "JSON_BLOCKS", blocks: [{ any: "thing" }] });
    await expect(sdk.templates.update(kept.id, { kind: "HTML" })).rejects.toMatchObject({ details: [{ path: "kind" }] });
  });

  test("takes the colors of the brand when its blocks are saved", async () => {
    await using world = await createWorld();
    const { id } = await create(world);
    await world.sdk.brand.update({ colors: { primary: "#7a1fa2" }, locale: "he" });
    expect((await world.sdk.templates.update(id, { name: "Same" })).html).not.toContain("#7a1fa2");
    const saved = await world.sdk.templates.update(id, { blocks: BLOCKS });
    expect(saved.html).toContain("background-color:#7a1fa2");
    expect(saved.html).toContain('<html lang="he" dir="rtl"');
  });
});
