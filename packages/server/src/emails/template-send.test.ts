import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { scriptedMailer } from "../../test/scripted-mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const ORDER = {
  name: "Order",
  slug: "order",
  subject: "Order {{ order.number }} for {{ name }}",
  from: "Acme <shop@acme.test>",
  replyTo: "help@acme.test",
  html: '<p>Hi {{ name }}</p><ul>{{#each order.lines}}<li>{{ title }}</li>{{/each}}</ul><a href="{{ url }}">Track</a>',
  publish: true,
} as const;
const VALUES = { name: "Ada <3", order: { number: 17, lines: [{ title: "Engine & gears" }] }, url: "https://acme.test/t/17" };

const withOrder = async (world: TestWorld, more: object = {}) => world.sdk.templates.create({ ...ORDER, ...more });
const post = (world: TestWorld, body: unknown, path = "/api/v1/send/order", headers?: Record<string, string>) =>
  ask(world, { path, body, ...(headers && { headers }) });

describe("a template send", () => {
  test.each([
    ["Set A", "/api/v1/send/order", {}],
    ["Set B", "/api/v1/v1/emails/send-template", { slug: "order" }],
    ["Set B, as answers call it", "/api/v1/v1/emails/send-template", { template: "order" }],
  ])("answers id, status and template, and the mail has subject, HTML and text of its own (%s)", async (_set, path, named) => {
    await using world = await createWorld();
    await withOrder(world);
    const answer = await post(world, { ...named, to: "ada@example.com", variables: VALUES }, path);
    const body = (await answer.json()) as { id: string };
    expect([answer.status, body]).toEqual([200, { id: expect.stringMatching(/^em_/), status: "queued", template: "order" }]);
    await world.settle();
    expect(await world.sdk.emails.get(body.id)).toMatchObject({
      status: "delivered",
      from: "Acme <shop@acme.test>",
      replyTo: "help@acme.test",
      subject: "Order 17 for Ada <3",
      html: '<p>Hi Ada &lt;3</p><ul><li>Engine &amp; gears</li></ul><a href="https://acme.test/t/17">Track</a>',
      text: "Hi Ada <3\n\n- Engine & gears\n\nTrack (https://acme.test/t/17)",
      template: { slug: "order", version: 1 },
    });
    expect((await world.inbox.all())[0]).toMatchObject({ subject: "Order 17 for Ada <3", to: expect.anything() });
  });

  test("takes sender, subject and reply-to of the request in place of its own, variables in the subject included", async () => {
    await using world = await createWorld();
    await withOrder(world);
    const { id } = (await world.sdk.templates.send("order", {
      to: "ada@example.com",
      from: "sales@acme.test",
      subject: "{{ upper name }}: {{ order.number }}",
      replyTo: "Sales <re@acme.test>",
      variables: VALUES,
      headers: { "X-Kind": "order" },
      tags: { kind: "order" },
      attachments: [{ filename: "a.txt", content: "aGk=" }],
    })) as { id: string };
    expect(await world.sdk.emails.get(id)).toMatchObject({
      from: "sales@acme.test",
      replyTo: "Sales <re@acme.test>",
      subject: "ADA <3: 17",
      headers: { "X-Kind": "order" },
      tags: { kind: "order" },
      attachments: [{ filename: "a.txt", size: 2 }],
    });
  });

  test("of a batch answers ids, status, count and template, and leaves suppressed recipients out", async () => {
    await using world = await createWorld();
    await withOrder(world);
    await world.sdk.suppressions.create({ email: "gone@example.com" });
    const sent = await world.sdk.templates.send("order", {
      to: ["ada@example.com", "Gone@example.com", "bob@example.com"],
      variables: VALUES,
    });
    expect(sent).toEqual({
      ids: [expect.stringMatching(/^em_/), expect.stringMatching(/^em_/)],
      status: "queued",
      count: 2,
      failed: [{ to: "Gone@example.com", code: "recipient_suppressed", message: expect.any(String) }],
      template: "order",
    });
    const all = await world.sdk.templates.send("order", { to: ["ada@example.com"], variables: VALUES });
    expect(all).not.toHaveProperty("failed");
    expect(all).toHaveProperty("count", 1);
    await expect(world.sdk.templates.send("order", { to: ["gone@example.com"], variables: VALUES })).rejects.toMatchObject({
      code: "recipient_suppressed",
      details: [{ path: "to[0]" }],
    });
    await expect(world.sdk.templates.send("order", { to: "gone@example.com", variables: VALUES })).rejects.toMatchObject({
      code: "recipient_suppressed",
      details: [{ path: "to" }],
    });
  });

  test("gives each recipient its own values, stores what is the same once, and attaches files to all", async () => {
    await using world = await createWorld();
    await withOrder(world);
    const { ids } = (await world.sdk.templates.send("order", {
      to: ["ada@example.com", "bob@example.com", "cy@example.com", "dan@example.com"],
      variables: VALUES,
      recipientVariables: { "BOB@example.com": { name: "Bob" }, "cy@example.com": { name: "Cy", order: { number: 18, lines: [] } } },
      attachments: [{ filename: "terms.txt", content: "aGk=" }],
    })) as { ids: string[] };
    const mails = await Promise.all(ids.map((id) => world.sdk.emails.get(id)));
    expect(mails.map((m) => m.subject)).toEqual(["Order 17 for Ada <3", "Order 17 for Bob", "Order 18 for Cy", "Order 17 for Ada <3"]);
    for (const mail of mails) expect(mail.attachments).toMatchObject([{ filename: "terms.txt", size: 2 }]);
    const inbox = await world.inbox.all();
    expect(inbox).toHaveLength(4);
    for (const { id } of inbox) expect((await world.sdk.inbox.raw(id)).includes("terms.txt")).toBe(true);
    const { t } = world.app.deps.db.read;
    expect(await world.app.deps.db.read.$count(t.contents)).toBe(3);
    expect(await world.app.deps.db.read.$count(t.attachments)).toBe(1);
  });

  test("goes out as it was accepted, whatever is published before its hour", async () => {
    await using world = await createWorld();
    const { id } = await withOrder(world);
    const sent = (await world.sdk.templates.send("order", {
      to: "ada@example.com",
      variables: VALUES,
      scheduledAt: "2026-01-01T02:00:00Z",
    })) as { id: string };
    await world.sdk.templates.update(id, { html: "<p>Other</p>", subject: "Other", publish: true });
    await world.sdk.templates.archive(id);
    await world.clock.advance("2h");
    const mail = await world.sdk.emails.get(sent.id);
    expect(mail).toMatchObject({ status: "delivered", subject: "Order 17 for Ada <3", template: { slug: "order", version: 1 } });
    expect(mail.html).not.toContain("Other");
  });

  test("uses what is published at that moment, parts included", async () => {
    await using world = await createWorld();
    const footer = await world.sdk.templates.create({ name: "Footer", type: "partial", html: "<p>Old</p>", text: "Old", publish: true });
    await world.sdk.templates.create({ name: "Frame", type: "layout", html: "<body>{{{body}}}{{> footer}}</body>", publish: true });
    await withOrder(world, { layout: "frame", html: "<b>{{ name }}</b>" });
    const html = async (): Promise<string | null> => {
      const { id } = (await world.sdk.templates.send("order", { to: "ada@example.com", variables: VALUES })) as { id: string };
      return (await world.sdk.emails.get(id)).html;
    };
    expect(await html()).toBe("<body><b>Ada &lt;3</b><p>Old</p></body>");
    await world.sdk.templates.update(footer.id, { html: "<p>{{ name }}</p>" });
    expect(await html()).toBe("<body><b>Ada &lt;3</b><p>Old</p></body>");
    await world.sdk.templates.publish(footer.id, {});
    expect(await html()).toBe("<body><b>Ada &lt;3</b><p>Ada &lt;3</p></body>");
  });

  test("acts once under one Idempotency-Key, also when the template is gone meanwhile", async () => {
    await using world = await createWorld();
    const { id } = await withOrder(world);
    const send = () => post(world, { to: "ada@example.com", variables: VALUES }, "/api/v1/send/order", { "idempotency-key": "k1" });
    const first = await (await send()).json();
    await world.sdk.templates.delete(id);
    const again = await send();
    expect([again.status, again.headers.get("idempotency-replayed"), await again.json()]).toEqual([200, "true", first]);
    expect((await world.sdk.emails.list()).pagination.total).toBe(1);
    const other = await post(world, { to: "bob@example.com", variables: VALUES }, "/api/v1/send/order", { "idempotency-key": "k1" });
    expect(other.status).toBe(409);
  });

  test("is refused without a verified sender in production", async () => {
    await using world = await createWorld({ dev: false, mailer: scriptedMailer() });
    await withOrder(world);
    const refused = await post(world, { to: "ada@example.com", variables: VALUES });
    expect(await refused.json()).toMatchObject({ error: { code: "sender_not_verified", status: 400, details: [{ path: "from" }] } });
  });
});

describe("missing variables", () => {
  test("are named all at once, wherever they are used, and nothing is sent", async () => {
    await using world = await createWorld();
    await withOrder(world);
    const refused = await post(world, { to: "ada@example.com", variables: { order: { lines: [{ title: "a" }, {}, { title: null }] } } });
    const body = (await refused.json()) as { error: { code: string; details: { path: string; code: string }[] } };
    expect([refused.status, body.error.code]).toEqual([400, "missing_variables"]);
    expect(body.error.details.map((d) => d.path).sort()).toEqual([
      "variables.name",
      "variables.order.lines[1].title",
      "variables.order.number",
      "variables.url",
    ]);
    expect((await world.sdk.emails.list()).pagination.total).toBe(0);
  });

  test("of single recipients name the recipient", async () => {
    await using world = await createWorld();
    await world.sdk.templates.create({ ...ORDER, html: "<p>{{ name }} {{ code }}</p>", subject: "S" });
    const refused = await post(world, {
      to: ["a@x.test", "b@x.test", "c@x.test"],
      variables: { name: "N" },
      recipientVariables: { "b@x.test": { code: 1 }, "c@x.test": { name: "C" } },
    });
    const { error } = (await refused.json()) as { error: { message: string; details: { path: string; message: string }[] } };
    expect(error.message).toBe("The template needs variables that have no values for a@x.test, c@x.test.");
    expect(error.details.map((d) => [d.path, d.message])).toEqual([
      ["variables.code", "code is required for a@x.test."],
      ["recipientVariables.c@x.test.code", "code is required for c@x.test."],
    ]);
  });

  test("are no fault where the template does without", async () => {
    await using world = await createWorld();
    await world.sdk.templates.create({
      ...ORDER,
      subject: "Hi {{ default name 'you' }}",
      html: "<p>{{#if code}}{{ code }}{{ note }}{{else}}none{{/if}}{{#each items}}{{ n }}{{else}}empty{{/each}}{{ co }}{{ soft }}</p>",
      variables: [
        { name: "co", default: "Acme" },
        { name: "soft", required: false },
      ],
    });
    const { id } = (await world.sdk.templates.send("order", { to: "a@x.test" })) as { id: string };
    expect(await world.sdk.emails.get(id)).toMatchObject({ subject: "Hi you", html: "<p>noneemptyAcme</p>" });
    await expect(world.sdk.templates.send("order", { to: "a@x.test", variables: { code: 1 } })).rejects.toMatchObject({
      code: "missing_variables",
      details: [{ path: "variables.note" }],
    });
    expect((await world.sdk.templates.getBySlug("order")).variables).toEqual([
      { name: "name", type: "string", required: false, default: "you", description: null },
      { name: "code", type: "string", required: false, default: null, description: null },
      { name: "note", type: "string", required: false, default: null, description: null },
      { name: "items", type: "array", required: false, default: null, description: null },
      { name: "items[].n", type: "string", required: true, default: null, description: null },
      { name: "co", type: "string", required: false, default: "Acme", description: null },
      { name: "soft", type: "string", required: false, default: null, description: null },
    ]);
  });
});

describe("a test of a template", () => {
  test("sends its draft, published or not, to a few addresses", async () => {
    await using world = await createWorld();
    const { id } = await withOrder(world);
    await world.sdk.templates.update(id, { subject: "Draft for {{ name }}" });
    const sent = await world.sdk.templates.test(id, { to: "me@acme.test", variables: VALUES });
    expect(sent).toMatchObject({ status: "queued", template: "order" });
    await world.sdk.templates.test(id, { to: ["me@acme.test"], variables: VALUES, version: 1 });
    expect((await world.inbox.all()).map((m) => m.subject).sort()).toEqual(["Draft for Ada <3", "Order 17 for Ada <3"]);
    const many = await post(world, { to: Array.from({ length: 6 }, (_, i) => `a${i}@x.test`) }, `/api/v1/templates/${id}/test`);
    expect(await many.json()).toMatchObject({ error: { code: "validation_error", details: [{ path: "to" }] } });
  });
});

describe("a preview", () => {
  test("shows what a send would send, and what is missing as it is written", async () => {
    await using world = await createWorld();
    const { id } = await withOrder(world);
    const { id: email } = (await world.sdk.templates.send("order", { to: "a@x.test", variables: VALUES })) as { id: string };
    const { subject, html, text } = await world.sdk.emails.get(email);
    expect(await world.sdk.templates.preview(id, { variables: VALUES })).toEqual({ subject, html, text, missingVariables: [] });
    const bare = await world.sdk.templates.preview(id, {});
    expect(bare).toMatchObject({
      subject: "Order {{order.number}} for {{name}}",
      missingVariables: expect.arrayContaining(["name", "order.number", "order.lines", "url"]),
    });
    expect((await world.sdk.emails.list()).pagination.total).toBe(1);
  });

  test("of sources that are not stored uses the parts given with them, and names the line of a fault", async () => {
    await using world = await createWorld();
    await world.sdk.templates.create({ name: "Footer", type: "partial", html: "<i>stored</i>", publish: true });
    const sources = { html: "<p>{{ name }}</p>{{> footer}}", variables: { name: "Ada" } };
    expect(await world.sdk.templates.render(sources)).toMatchObject({
      html: "<p>Ada</p><i>stored</i>",
      text: "Ada\n\nstored",
      subject: null,
    });
    expect(
      await world.sdk.templates.render({
        ...sources,
        layout: "frame",
        parts: { footer: { html: "<i>{{ co }}</i>" }, frame: { html: "[{{{body}}}]" } },
      }),
    ).toMatchObject({
      html: "[<p>Ada</p><i>{{co}}</i>]",
      missingVariables: ["co"],
      variables: [{ name: "name" }, { name: "co", required: true }],
    });
    await expect(world.sdk.templates.render({ html: "a\n  {{#if x}}" })).rejects.toMatchObject({
      code: "template_error",
      details: [{ path: "html", code: "syntax_error", line: 2, column: 3 }],
    });
    expect((await world.sdk.templates.list()).pagination.total).toBe(1);
  });
});
