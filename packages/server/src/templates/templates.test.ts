import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { secondWorkspace } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const WELCOME = {
  name: "Welcome",
  slug: "welcome",
  subject: "Hello {{ name }}",
  from: "Acme <hello@acme.test>",
  html: "<p>Hi {{ name }}</p>",
} as const;

const create = (world: TestWorld, more: Record<string, unknown> = {}) =>
  world.sdk.templates.create({ ...WELCOME, ...more } as Parameters<TestWorld["sdk"]["templates"]["create"]>[0]);

test.each(["a\r\nBcc: x@y.test", "a\u2028b", "a\0b", "n".repeat(999)])(
  "a subject that no mail could have is refused alike when it is previewed, rendered and sent: %j",
  async (name) => {
    await using world = await createWorld();
    const { id, slug } = await create(world, { publish: true });
    const { subject, html } = WELCOME;
    const refused = { code: "validation_error", details: [{ path: name.includes("\0") ? expect.any(String) : "subject" }] };
    await expect(world.sdk.templates.preview(id, { variables: { name } })).rejects.toMatchObject(refused);
    await expect(world.sdk.templates.render({ subject, html, variables: { name } })).rejects.toMatchObject(refused);
    await expect(world.sdk.templates.send(slug, { to: "ada@x.test", variables: { name } })).rejects.toMatchObject(refused);
  },
);

test("a template named Batch gets a slug that sends reach", async () => {
  await using world = await createWorld();
  const { slug } = await create(world, { name: "Batch", slug: undefined, publish: true });
  expect(slug).toBe("batch-template");
  expect(await world.sdk.templates.send(slug, { to: "ada@x.test", variables: { name: "Ada" } })).toMatchObject({ template: slug });
  await expect(create(world, { slug: "batch" })).rejects.toMatchObject({ code: "validation_error", details: [{ path: "slug" }] });
});

test("a null is no value for a declared variable: its default applies, and a required one is missing", async () => {
  await using world = await createWorld();
  const variables = [{ name: "name", default: "friend" }, { name: "code" }];
  const { id, slug } = await create(world, { html: "<p>Hi {{name}}: {{code}}{{#if note}}!{{/if}}</p>", variables, publish: true });
  const given = { name: null, code: null, note: null };
  expect(await world.sdk.templates.preview(id, { variables: given })).toMatchObject({
    html: "<p>Hi friend: </p>",
    missingVariables: ["code"],
  });
  await expect(world.sdk.templates.send(slug, { to: "ada@x.test", variables: given })).rejects.toMatchObject({
    code: "missing_variables",
    details: [{ path: "variables.code", code: "required" }],
  });
  await world.sdk.templates.send(slug, { to: "ada@x.test", variables: { ...given, code: 7 } });
});

describe("a template's life", () => {
  test("tells which layouts and partials its draft and its published version use", async () => {
    await using world = await createWorld();
    await world.sdk.templates.create({ name: "Footer", type: "partial", html: "<p>Acme</p>", publish: true });
    await world.sdk.templates.create({ name: "Frame", type: "layout", html: "{{{body}}}{{> footer}}", publish: true });
    const { id } = await create(world, { html: "<p>Hi {{> footer}}</p>", publish: true });
    expect(await world.sdk.templates.get(id)).toMatchObject({ uses: ["footer"] });
    expect(await world.sdk.templates.update(id, { html: "<p>Hi</p>", layout: "frame" })).toMatchObject({ uses: ["footer", "frame"] });
    expect(await world.sdk.templates.update(id, { layout: null, publish: true })).toMatchObject({ uses: [] });
    const { data } = await world.sdk.templates.list({ type: "layout" });
    expect(data).toMatchObject([{ slug: "frame", uses: ["footer"] }]);
  });

  test("begins as a draft with a slug made of its name, and is sent only once it is published", async () => {
    await using world = await createWorld();
    const made = await create(world, { name: "Größe & Maß: Übersicht!", slug: undefined });
    expect(made).toMatchObject({
      id: expect.stringMatching(/^tpl_/),
      slug: "gro-e-ma-ubersicht",
      type: "transactional",
      kind: "HTML",
      status: "ACTIVE",
      version: null,
      hasUnpublishedChanges: true,
      revision: 1,
      publishedAt: null,
      html: "<p>Hi {{name}}</p>",
      text: "Hi {{name}}",
      renderError: null,
      variables: [{ name: "name", type: "string", required: true, default: null, description: null }],
      source: { subject: "Hello {{ name }}", html: "<p>Hi {{ name }}</p>", text: null, blocks: null, variables: [] },
    });
    await expect(world.sdk.templates.send(made.slug, { to: "ada@example.com" })).rejects.toMatchObject({
      code: "template_not_found",
      status: 404,
    });
    expect(await world.sdk.templates.publish(made.id, {})).toMatchObject({ version: 1, hasUnpublishedChanges: false, revision: 2 });
    await expect(world.sdk.templates.send(made.slug, { to: "ada@example.com", variables: { name: "Ada" } })).resolves.toMatchObject({
      status: "queued",
      template: made.slug,
    });
  });

  test("publishing what is published changes nothing, and makes no version", async () => {
    await using world = await createWorld();
    const { id } = await create(world, { publish: true });
    const first = await world.sdk.templates.get(id);
    expect(first).toMatchObject({ version: 1, revision: 1, hasUnpublishedChanges: false });
    await world.sdk.templates.publish(id, {});
    await world.sdk.templates.update(id, { publish: true });
    expect(await world.sdk.templates.get(id)).toMatchObject({ version: 1 });
    expect((await world.sdk.templates.versions(id)).data).toHaveLength(1);
  });

  test("a draft is changed without changing what is sent", async () => {
    await using world = await createWorld();
    const { id } = await create(world, { publish: true });
    const changed = await world.sdk.templates.update(id, { html: "<p>Dear {{ name }}</p>", category: "onboarding" });
    expect(changed).toMatchObject({
      version: 1,
      hasUnpublishedChanges: true,
      category: "onboarding",
      html: "<p>Dear {{name}}</p>",
      name: "Welcome",
    });
    await world.sdk.templates.send("welcome", { to: "ada@example.com", variables: { name: "Ada" } });
    const [mail] = await world.inbox.all();
    expect(mail).toMatchObject({ subject: "Hello Ada" });
    expect((await world.sdk.templates.get(id, { version: 1 })).source.html).toBe(WELCOME.html);
    await world.sdk.templates.publish(id, {});
    expect((await world.sdk.templates.get(id, { version: 2 })).source.html).toBe("<p>Dear {{ name }}</p>");
    await expect(world.sdk.templates.get(id, { version: 3 })).rejects.toMatchObject({ code: "not_found" });
  });

  test("a rollback publishes the earlier content as a new version, and the draft follows", async () => {
    await using world = await createWorld();
    const { id } = await create(world, { publish: true });
    await world.sdk.templates.update(id, { html: "<p>Two</p>", publish: true });
    expect(await world.sdk.templates.rollback(id, { version: 1 })).toMatchObject({ version: 3, hasUnpublishedChanges: false });
    expect((await world.sdk.templates.get(id)).source.html).toBe(WELCOME.html);
    expect((await world.sdk.templates.versions(id)).data).toMatchObject([
      { version: 3, current: true, restoredFrom: 1 },
      { version: 2, current: false, restoredFrom: null },
      { version: 1, current: false, restoredFrom: null },
    ]);
    expect(await world.sdk.templates.rollback(id, { version: 1 })).toMatchObject({ version: 3 });
    await world.sdk.templates.update(id, { html: "<p>Mine</p>" });
    expect(await world.sdk.templates.rollback(id, { version: 2 })).toMatchObject({ version: 4, hasUnpublishedChanges: true });
    expect((await world.sdk.templates.get(id)).source.html).toBe("<p>Mine</p>");
    await expect(world.sdk.templates.rollback(id, { version: 9 })).rejects.toMatchObject({ code: "not_found" });
  });

  test("an archived one is kept and not sent, until it is active again", async () => {
    await using world = await createWorld();
    const { id } = await create(world, { publish: true });
    expect(await world.sdk.templates.archive(id)).toMatchObject({ status: "INACTIVE" });
    expect(await world.sdk.templates.archive(id)).toMatchObject({ status: "INACTIVE", revision: 2 });
    const send = () => world.sdk.templates.send("welcome", { to: "ada@example.com", variables: { name: "Ada" } });
    await expect(send()).rejects.toMatchObject({ code: "template_not_found", message: expect.stringContaining("inactive") });
    await expect(world.sdk.templates.getBySlug("welcome")).rejects.toMatchObject({ code: "template_not_found" });
    expect(await world.sdk.templates.get(id)).toMatchObject({ status: "INACTIVE" });
    expect((await world.sdk.templates.list({ status: "ACTIVE" })).data).toEqual([]);
    await world.sdk.templates.unarchive(id);
    await expect(send()).resolves.toMatchObject({ status: "queued" });
  });

  test("is gone when it is deleted, and its slug is free; what was queued goes out", async () => {
    await using world = await createWorld();
    const { id } = await create(world, { publish: true });
    const queued = (await world.sdk.templates.send("welcome", {
      to: "ada@example.com",
      variables: { name: "Ada" },
      scheduledAt: "2026-01-01T01:00:00Z",
    })) as { id: string };
    expect(await world.sdk.templates.delete(id)).toMatchObject({ id, slug: "welcome" });
    await expect(world.sdk.templates.get(id)).rejects.toMatchObject({ code: "not_found" });
    await create(world);
    await world.clock.advance("1h");
    expect(await world.sdk.emails.get(queued.id)).toMatchObject({ status: "delivered", html: "<p>Hi Ada</p>" });
  });
});

describe("lists", () => {
  const fill = async (world: TestWorld): Promise<void> => {
    await create(world, { slug: "a-order", name: "Order shipped", category: "orders", description: "100%_sure" });
    await create(world, { slug: "b-news", name: "News", type: "marketing" });
    await create(world, { slug: "c-foot", name: "Footer", type: "partial", subject: undefined, from: undefined, html: "<p>x</p>" });
    await create(world, { slug: "d-reset", name: "Reset", description: "Password of an ORDER", publish: true });
  };

  test("show metadata and nothing of the content, newest first, by search, category, type and status", async () => {
    await using world = await createWorld();
    await fill(world);
    const slugs = async (query: object): Promise<string[]> => (await world.sdk.templates.list(query)).data.map((t) => t.slug);
    expect(await slugs({})).toEqual(["d-reset", "c-foot", "b-news", "a-order"]);
    expect(await slugs({ search: "order" })).toEqual(["d-reset", "a-order"]);
    expect(await slugs({ search: "%_" })).toEqual(["a-order"]);
    expect(await slugs({ category: "orders" })).toEqual(["a-order"]);
    expect(await slugs({ category: "none" })).toEqual([]);
    expect(await slugs({ type: "partial" })).toEqual(["c-foot"]);
    const text = await (await ask(world, { method: "GET", path: "/api/v1/templates" })).text();
    for (const hidden of ["html", "<p>", "text", "source", "Hello"]) expect(text).not.toContain(hidden);
  });

  test("go on by page and by cursor", async () => {
    await using world = await createWorld();
    await fill(world);
    const first = await world.sdk.templates.list({ limit: 3 });
    expect(first.pagination).toMatchObject({ total: 4, totalPages: 2, hasMore: true });
    const rest = await world.sdk.templates.list({ limit: 3, cursor: first.pagination.nextCursor ?? "" });
    expect(rest.data.map((t) => t.slug)).toEqual(["a-order"]);
    expect((await world.sdk.templates.list({ limit: 3, page: 2 })).data.map((t) => t.slug)).toEqual(["a-order"]);
    expect((await world.sdk.templates.list({ limit: 2 }).toArray()).map((t) => t.slug)).toHaveLength(4);
  });

  test("of Set B hold transactional templates only; a slug answers its variables", async () => {
    await using world = await createWorld();
    await fill(world);
    expect((await world.sdk.templates.listTransactional({})).data.map((t) => t.slug)).toEqual(["d-reset", "a-order"]);
    expect(await world.sdk.templates.getBySlug("d-reset")).toMatchObject({
      slug: "d-reset",
      version: 1,
      subject: "Hello {{ name }}",
      variables: [{ name: "name", type: "string", required: true, default: null, description: null }],
    });
    await expect(world.sdk.templates.getBySlug("d-rest")).rejects.toMatchObject({ hint: "Did you mean d-reset?" });
    await expect(world.sdk.templates.send("dreset", { to: "ada@example.com" })).rejects.toMatchObject({ hint: "Did you mean d-reset?" });
    for (const slug of ["a-order", "b-news", "c-foot", "nothing"])
      await expect(world.sdk.templates.getBySlug(slug)).rejects.toMatchObject({ code: "template_not_found", status: 404 });
  });

  test("a workspace sees nothing of another one", async () => {
    await using world = await createWorld();
    const { id } = await create(world, { publish: true });
    const other = await secondWorkspace(world);
    const as = (method: string, path: string, body?: unknown) => ask(world, { method, path, body, key: other.apiKey });
    expect(await (await as("GET", "/api/v1/templates")).json()).toMatchObject({ data: [], pagination: { total: 0 } });
    for (const [method, path, body] of [
      ["GET", `/api/v1/templates/${id}`],
      ["PATCH", `/api/v1/templates/${id}`, { name: "x" }],
      ["DELETE", `/api/v1/templates/${id}`],
      ["POST", `/api/v1/templates/${id}/publish`, {}],
      ["POST", `/api/v1/templates/${id}/rollback`, { version: 1 }],
      ["POST", `/api/v1/templates/${id}/archive`],
      ["POST", `/api/v1/templates/${id}/preview`, {}],
      ["POST", `/api/v1/templates/${id}/test`, { to: "a@b.test" }],
      ["GET", `/api/v1/templates/${id}/versions`],
      ["GET", "/api/v1/v1/templates/welcome"],
      ["POST", "/api/v1/send/welcome", { to: "a@b.test", variables: { name: "x" } }],
    ] as const)
      expect([path, (await as(method, path, body)).status]).toEqual([path, 404]);
    expect((await as("POST", "/api/v1/templates", WELCOME)).status).toBe(201);
  });
});

describe("two at once", () => {
  test("of 20 creates with one slug one succeeds, the others answer 409 that names the field", async () => {
    await using world = await createWorld();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(world, { path: "/api/v1/templates", body: WELCOME })));
    expect(answers.filter((a) => a.status === 201)).toHaveLength(1);
    const refused = answers.filter((a) => a.status === 409);
    expect(refused).toHaveLength(19);
    expect(await refused[0]?.json()).toMatchObject({ error: { code: "conflict", details: [{ path: "slug", code: "taken" }] } });
    expect((await world.sdk.templates.list()).pagination.total).toBe(1);
  });

  test("20 publishes of one draft make one version", async () => {
    await using world = await createWorld();
    const { id } = await create(world);
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.sdk.templates.publish(id, {})));
    expect(new Set(answers.map((a) => a.version))).toEqual(new Set([1]));
    expect((await world.sdk.templates.versions(id)).pagination.total).toBe(1);
  });

  test("of 10 updates of the same revision one succeeds", async () => {
    await using world = await createWorld();
    const { id } = await create(world);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        ask(world, { method: "PATCH", path: `/api/v1/templates/${id}`, body: { name: `n${i}`, revision: 1 } }),
      ),
    );
    expect(answers.filter((a) => a.status === 200)).toHaveLength(1);
    const conflicts = await Promise.all(answers.filter((a) => a.status === 409).map((a) => a.json()));
    expect(conflicts).toHaveLength(9);
    for (const body of conflicts)
      expect(body).toMatchObject({ error: { code: "conflict", details: [{ path: "revision", code: "outdated" }] } });
    expect((await world.sdk.templates.get(id)).revision).toBe(2);
  });

  test("updates without a revision all take effect, one after the other", async () => {
    await using world = await createWorld();
    const { id } = await create(world);
    await Promise.all(Array.from({ length: 10 }, (_, i) => world.sdk.templates.update(id, { html: `<p>${i}</p>`, publish: true })));
    const { version, revision } = await world.sdk.templates.get(id);
    expect([version, revision]).toEqual([10, 11]);
    expect((await world.sdk.templates.versions(id)).data.map((v) => v.version)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test("two templates cannot come to the same slug by renaming", async () => {
    await using world = await createWorld();
    const a = await create(world, { slug: "a" });
    const b = await create(world, { slug: "b" });
    const answers = await Promise.all(
      [a.id, b.id].map((id) => ask(world, { method: "PATCH", path: `/api/v1/templates/${id}`, body: { slug: "c" } })),
    );
    expect(answers.map((r) => r.status).sort()).toEqual([200, 409]);
  });
});

test("only the newest hundred versions are kept", async () => {
  await using world = await createWorld();
  const { id } = await create(world, { publish: true });
  for (let i = 0; i < 103; i += 1) await world.sdk.templates.update(id, { html: `<p>${i}</p>`, publish: true });
  const { pagination } = await world.sdk.templates.versions(id);
  expect(pagination.total).toBe(100);
  await expect(world.sdk.templates.get(id, { version: 4 })).rejects.toMatchObject({ code: "not_found" });
  expect(await world.sdk.templates.get(id, { version: 5 })).toMatchObject({ shownVersion: 5 });
  expect(await world.sdk.templates.get(id)).toMatchObject({ shownVersion: null, html: "<p>102</p>" });
});

describe("layouts and partials", () => {
  const part = (world: TestWorld, slug: string, html: string, more: object = {}) =>
    world.sdk.templates.create({ name: slug, slug, type: "partial", html, publish: true, ...more });

  test("are kept while others use them: not deleted, archived, renamed or made into something else", async () => {
    await using world = await createWorld();
    const foot = await part(world, "foot", "<p>x</p>");
    const { id } = await create(world, { html: "<p>x</p>{{> foot}}", publish: true });
    const inUse = { code: "conflict", status: 409, details: [{ path: "welcome", code: "in_use" }] };
    await expect(world.sdk.templates.delete(foot.id)).rejects.toMatchObject(inUse);
    await expect(world.sdk.templates.archive(foot.id)).rejects.toMatchObject(inUse);
    await expect(world.sdk.templates.update(foot.id, { slug: "feet" })).rejects.toMatchObject(inUse);
    await expect(world.sdk.templates.update(foot.id, { type: "transactional" })).rejects.toMatchObject(inUse);
    await world.sdk.templates.update(id, { html: "<p>x</p>" });
    await expect(world.sdk.templates.delete(foot.id)).rejects.toMatchObject(inUse);
    await world.sdk.templates.publish(id, {});
    await expect(world.sdk.templates.delete(foot.id)).resolves.toMatchObject({ slug: "foot" });
  });

  test("must be published before what uses them is", async () => {
    await using world = await createWorld();
    const foot = await part(world, "foot", "<p>x</p>", { publish: false });
    const { id } = await create(world, { html: "<p>y</p>{{> foot}}" });
    expect((await world.sdk.templates.get(id)).html).toBe("<p>y</p><p>x</p>");
    await expect(world.sdk.templates.publish(id, {})).rejects.toMatchObject({
      code: "validation_error",
      details: [{ path: "html", code: "unknown_partial" }],
    });
    await world.sdk.templates.publish(foot.id, {});
    await expect(world.sdk.templates.publish(id, {})).resolves.toMatchObject({ version: 1 });
  });

  test("are not published when a template that uses them could no longer be sent", async () => {
    await using world = await createWorld();
    const inner = await part(world, "inner", "<b>x</b>", { text: "x" });
    await part(world, "outer", "{{> inner}}", { text: "{{> inner}}" });
    const frame = await world.sdk.templates.create({ name: "frame", type: "layout", html: "<i>{{{body}}}</i>", publish: true });
    await create(world, { html: '<p title="{{> outer}}"></p>', text: "{{> outer}}", layout: "frame", publish: true });
    const breaks = { code: "conflict", details: [{ path: "welcome", code: "would_break" }] };
    await expect(world.sdk.templates.update(inner.id, { text: null, publish: true })).rejects.toMatchObject(breaks);
    await expect(world.sdk.templates.update(inner.id, { html: "<b onclick={{ x }}>", publish: true })).rejects.toMatchObject({
      code: "validation_error",
    });
    await expect(world.sdk.templates.update(frame.id, { html: "<p title='{{{body}}}'>", publish: true })).rejects.toMatchObject({
      code: "validation_error",
    });
    await expect(world.sdk.templates.update(frame.id, { html: null, text: "{{{body}}}", publish: true })).rejects.toMatchObject(breaks);
    expect(await world.sdk.templates.get(inner.id)).toMatchObject({ version: 1, source: { text: "x" } });
    await expect(world.sdk.templates.update(inner.id, { html: "<b>y</b>", publish: true })).resolves.toMatchObject({ version: 2 });
  });

  test("do not use each other in a circle", async () => {
    await using world = await createWorld();
    const a = await part(world, "a", "a");
    await part(world, "b", "{{> a}}");
    await part(world, "c", "{{> b}}");
    for (const html of ["{{> a}}", "{{> b}}", "x{{> c}}"])
      await expect(world.sdk.templates.update(a.id, { html })).rejects.toMatchObject({
        code: "validation_error",
        details: [{ code: "cycle" }],
      });
    const parts = Array.from({ length: 10 }, (_, i) => `d${i}`);
    for (const [i, slug] of parts.entries()) await part(world, slug, i === 0 ? "x" : `{{> d${i - 1}}}`);
    await expect(part(world, "e", "{{> d9}}")).resolves.toMatchObject({ html: "x" });
    await expect(create(world, { html: "{{> e}}" })).rejects.toMatchObject({ details: [{ code: "too_deep" }] });
  });

  test("bring their variables and defaults along", async () => {
    await using world = await createWorld();
    await part(world, "button", '<a href="{{ url }}">{{ label }}</a>', { variables: [{ name: "label", default: "Open" }] });
    await create(world, { subject: "S", html: "{{> button url=order.url}}", publish: true });
    expect((await world.sdk.templates.getBySlug("welcome")).variables).toEqual([
      { name: "order.url", type: "string", required: true, default: null, description: null },
      { name: "label", type: "string", required: false, default: "Open", description: null },
    ]);
    await expect(world.sdk.templates.send("welcome", { to: "a@x.test" })).rejects.toMatchObject({
      code: "missing_variables",
      details: [{ path: "variables.order.url" }],
    });
  });

  test("of one workspace are not those of another", async () => {
    await using world = await createWorld();
    await part(world, "foot", "<p>secret</p>");
    const { apiKey } = await secondWorkspace(world);
    const answer = await ask(world, { path: "/api/v1/templates", key: apiKey, body: { name: "x", html: "{{> foot}}" } });
    expect(answer.status).toBe(400);
    const rendered = await ask(world, { path: "/api/v1/templates/render", key: apiKey, body: { html: "{{> foot}}" } });
    expect([rendered.status, (await rendered.text()).includes("secret")]).toEqual([400, false]);
  });
});

test("a template of blocks is kept, versioned and read, but not rendered", async () => {
  await using world = await createWorld();
  const blocks = [{ type: "heading", text: "Hi {{ name }}" }];
  const { id } = await world.sdk.templates.create({ name: "Blocks", kind: "JSON_BLOCKS", subject: "S", blocks, publish: true });
  expect(await world.sdk.templates.get(id)).toMatchObject({
    kind: "JSON_BLOCKS",
    version: 1,
    html: null,
    text: null,
    renderError: "A template of kind JSON_BLOCKS cannot be rendered.",
    source: { blocks, html: null },
  });
  const unrenderable = { code: "template_error", status: 400 };
  await expect(world.sdk.templates.preview(id, {})).rejects.toMatchObject(unrenderable);
  await expect(world.sdk.templates.test(id, { to: "a@x.test", from: "a@acme.test" })).rejects.toMatchObject(unrenderable);
  await expect(world.sdk.templates.send("blocks", { to: "a@x.test", from: "a@acme.test" })).rejects.toMatchObject(unrenderable);
  expect(await world.sdk.templates.getBySlug("blocks")).toMatchObject({ kind: "JSON_BLOCKS", variables: [] });
  expect(await world.sdk.templates.update(id, { blocks: [] })).toMatchObject({ hasUnpublishedChanges: true, source: { blocks: [] } });
});

test("a stored template that can be rendered no more says why, and is still read", async () => {
  await using world = await createWorld();
  const { id } = await create(world, { html: '<a href="{{ url }}">x</a>', variables: [{ name: "url", default: "javascript:x" }] });
  expect(await world.sdk.templates.get(id)).toMatchObject({
    html: null,
    renderError: expect.stringContaining("url"),
    source: { html: '<a href="{{ url }}">x</a>' },
  });
  await expect(world.sdk.templates.preview(id, {})).rejects.toMatchObject({
    code: "template_error",
    details: [{ code: "unsafe_url", line: 1, column: 10 }],
  });
});

test("a version that no column holds is refused", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.templates.create({ slug: "welcome", name: "Welcome", subject: "Hi", text: "Hi" });
  await expect(world.sdk.templates.get(id, { version: 2 ** 31 })).rejects.toMatchObject({ status: 400, details: [{ path: "version" }] });
});
