import { expect } from "vitest";
import { type Scenario, scenarios } from "../../test/scenario.ts";
import { keyFor } from "../../test/tenant.ts";
import type { TestWorld } from "../testing.ts";

const PATH = "/api/v1/templates";
const send = (name: string, body: unknown, details: readonly string[], more: Partial<Scenario> = {}): Scenario => ({
  name,
  path: "/api/v1/send/good",
  body,
  status: 400,
  code: "validation_error",
  details,
  ...more,
});
const create = (name: string, body: unknown, details: readonly string[], more: Partial<Scenario> = {}): Scenario => ({
  name,
  path: PATH,
  body,
  status: 400,
  code: "validation_error",
  details,
  ...more,
});
const html = (name: string, source: string, ...details: string[]): Scenario =>
  create(
    name,
    { name: "x", html: source },
    details.map((d) => `html ${d}`),
  );

scenarios("templates that are refused when they are saved", [
  create("no name", {}, ["name required"]),
  create("an empty name", { name: "" }, ["name too_small"]),
  create("a name over 200 characters", { name: "n".repeat(201) }, ["name too_big"]),
  create("a line break in the name", { name: "a\nb" }, ["name invalid_characters"]),
  create("a field nobody knows", { name: "x", colour: "red" }, ["colour unknown_field"]),
  create("a slug with a path in it", { name: "x", slug: "../../etc/passwd" }, ["slug invalid_format"]),
  create("a slug in capitals", { name: "x", slug: "Welcome" }, ["slug invalid_format"]),
  create("a name no slug can be made of", { name: "!!!" }, ["slug required"]),
  create("a type nobody knows", { name: "x", type: "promo" }, ["type invalid_value"]),
  create("a sender that is no address", { name: "x", from: "nobody" }, ["from invalid_email"]),
  create("a subject over 998 characters", { name: "x", subject: "s".repeat(999) }, ["subject too_big"]),
  create("CR and LF in the subject", { name: "x", subject: "a\r\nBcc: b@c.test" }, ["subject invalid_characters"]),
  create("U+0000 in the HTML", { name: "x", html: "a\0b" }, ["html invalid_characters"]),
  create("a lone surrogate in the text", '{"name":"x","text":"a\\ud800"}', ["text invalid_characters"]),
  create("U+0000 deep in a block", { name: "x", kind: "JSON_BLOCKS", blocks: [{ a: [{ b: "\0" }] }] }, ["blocks invalid_characters"]),
  create("HTML over 1 MiB", { name: "x", html: "x".repeat(1024 * 1024 + 1) }, ["html too_big"]),
  create("HTML in a template of blocks", { name: "x", kind: "JSON_BLOCKS", html: "<p>" }, ["html not_allowed"]),
  create("blocks in an HTML template", { name: "x", blocks: [] }, ["blocks not_allowed"]),
  create("a partial with a subject", { name: "x", type: "partial", subject: "s" }, ["subject not_allowed"]),
  create("a partial with a layout", { name: "x", type: "partial", layout: "good" }, ["layout not_allowed"]),
  create("a layout without a place for its content", { name: "x", type: "layout", html: "<p>" }, ["html no_body"]),
  create("a layout with two places", { name: "x", type: "layout", html: "{{{body}}}{{{body}}}" }, ["html no_body"]),
  create("a layout that escapes its content", { name: "x", type: "layout", html: "{{body}}" }, ["html escaped_body"]),
  create("a layout that is not there", { name: "x", layout: "nowhere" }, ["layout unknown_layout"]),
  create("a template as layout", { name: "x", layout: "good", html: "x" }, ["layout unknown_layout"]),
  create("a variable declared twice", { name: "x", variables: [{ name: "a" }, { name: "a" }] }, ["variables[1].name duplicate"]),
  create("a variable called __proto__", { name: "x", variables: [{ name: "__proto__" }] }, ["variables[0].name prototype"]),
  create("a variable of a type nobody knows", { name: "x", variables: [{ name: "a", type: "list" }] }, ["variables[0].type invalid_value"]),
  create("a default of another type", { name: "x", variables: [{ name: "n", type: "number", default: "7" }] }, [
    "variables[0].default invalid_type",
  ]),
  create("a default for a field of items", { name: "x", variables: [{ name: "a[].b", default: "7" }] }, [
    "variables[0].default not_allowed",
  ]),
  create("publishing without a subject", { name: "x", html: "x", publish: true }, ["subject required"]),
  create("publishing without content", { name: "x", subject: "s", publish: true }, ["html required"]),
  create("publishing blocks without blocks", { name: "x", subject: "s", kind: "JSON_BLOCKS", publish: true }, ["blocks required"]),
  html("a block that is not closed, by its line", "<p>\n  {{#if a}}", "syntax_error"),
  html("a partial that is not there", "{{> nowhere}}", "unknown_partial"),
  html("a template as partial", "{{> good}}", "unknown_partial"),
  html("two faults at once", "{{foo a}}\n{{a.constructor}}", "unknown_helper", "prototype"),
  create("the same in a subject", { name: "x", subject: "{{> footer}}{{lookup a 'b'}}" }, [
    "subject not_allowed",
    "subject unknown_helper",
  ]),
  create("three braces without a declaration", { name: "x", html: "{{{a}}}" }, ["html unescaped"], { contains: ["with the type html"] }),
  create("the position is in the detail", { name: "x", html: "one\ntwo {{#each}}{{/each}}" }, ["html wrong_arguments"], {
    contains: ['"line":2', '"column":5', "Line 2, column 5"],
  }),
]);

const before = async ({ sdk }: TestWorld): Promise<void> => {
  await sdk.templates.create({
    name: "Good",
    subject: "Hi {{ name }}",
    from: "a@acme.test",
    html: "<p>{{ name }}</p>{{#each items}}x{{else}}{{/each}}{{#if on}}<a href='{{ url }}'>x</a>{{ when }}{{/if}}",
    variables: [
      { name: "when", type: "date", required: true },
      { name: "items", type: "array", required: false },
    ],
    publish: true,
  });
  await sdk.templates.create({ name: "Senderless", subject: "s", html: "x", publish: true });
  await sdk.templates.create({ name: "Draft", subject: "s", html: "x" });
  await sdk.templates.create({
    name: "Blocks",
    kind: "JSON_BLOCKS",
    subject: "s",
    from: "a@acme.test",
    blocks: [{ type: "text" }],
    publish: true,
  });
  await sdk.templates.create({ name: "News", type: "marketing", subject: "s", html: "x", publish: true });
  await sdk.templates.create({ name: "Part", type: "partial", html: "x", publish: true });
  await sdk.templates.create({
    name: "Wide",
    subject: "{{ long }}",
    from: "a@acme.test",
    html: "{{#each rows}}{{#each ../rows}}x{{/each}}{{/each}}",
    publish: true,
  });
};
const to = "ada@example.com";
const w = { when: "2026-01-01" };

scenarios(
  "template sends that are refused",
  [
    send("no recipient", {}, ["to required"]),
    send("51 recipients", { to: Array.from({ length: 51 }, (_, i) => `a${i}@x.test`) }, ["to too_big"]),
    send("variables that are a list", { to, variables: [] }, ["variables invalid_type"]),
    send("U+0000 in a value", { to, variables: { name: "a\0", ...w } }, ["variables.name invalid_characters"]),
    send("a lone surrogate deep in a value", `{"to":"${to}","variables":{"name":"x","items":[{"a":"\\udc00"}]}}`, [
      "variables.items[0].a invalid_characters",
    ]),
    send("values for somebody else", { to, recipientVariables: { "bob@x.test": {} } }, ["recipientVariables.bob@x.test unknown_recipient"]),
    send("values for a word", { to, recipientVariables: { ada: {} } }, ["recipientVariables.ada unknown_recipient"]),
    send("values of a wrong type", { to, variables: { name: "x", when: "soon", items: 7 } }, [
      "variables.when invalid_type",
      "variables.items invalid_type",
    ]),
    send("content of a direct send", { to, html: "<p>" }, ["html unknown_field"]),
    send("a line break that a value brings into the subject", { to, variables: { ...w, name: "a\r\nBcc: x@y.test" } }, [
      "subject invalid_characters",
    ]),
    send("U+2028 in the subject", { to, variables: { ...w, name: "a\u2028b" } }, ["subject invalid_characters"]),
    send("a subject that becomes too long", { to, variables: { ...w, name: "n".repeat(1000) } }, ["subject too_big"]),
    send("a subject of its own with a fault", { to, subject: "{{#if a}}", variables: { ...w, name: "x" } }, ["subject syntax_error"]),
    send("a subject that becomes empty", { to, subject: "{{ name }}", variables: { ...w, name: " " } }, ["subject required"]),
    send("no sender anywhere", { to }, ["from required"], { path: "/api/v1/send/senderless" }),
    send("a past hour", { to, variables: { ...w, name: "x" }, scheduledAt: "2020-01-01T00:00:00Z" }, ["scheduledAt in_the_past"]),
    send("what is missing", { to }, ["variables.when required", "variables.name required"], { code: "missing_variables" }),
    send("a link that runs something", { to, variables: { ...w, name: "x", on: true, url: "javascript:alert(1)" } }, [" unsafe_url"], {
      code: "template_error",
    }),
    send("an object where a text is put", { to, variables: { ...w, name: { first: "x" } } }, [" wrong_value"], { code: "template_error" }),
    send(
      "a loop over 400,000",
      `{"to":"${to}","variables":{"name":"x","when":"2026-01-01","items":[${"0,".repeat(399_999)}0]}}`,
      [" too_much_work"],
      {
        code: "template_error",
      },
    ),
    send("loops in loops", { to, variables: { rows: Array(3000).fill(0), long: "x" } }, [" too_much_work"], {
      path: "/api/v1/send/wide",
      code: "template_error",
    }),
    send(
      "a batch whose loops are too much together",
      {
        to: Array.from({ length: 50 }, (_, i) => `a${i}@x.test`),
        variables: { rows: Array(600).fill(0), long: "x" },
        recipientVariables: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`a${i}@x.test`, { long: `${i}` }])),
      },
      [" too_much_work"],
      { path: "/api/v1/send/wide", code: "template_error" },
    ),
    send("a template of blocks", { to }, [], { path: "/api/v1/send/blocks", code: "template_error" }),
    send("a slug nobody knows", { to }, [], { path: "/api/v1/send/nowhere", status: 404, code: "template_not_found" }),
    send("a draft", { to }, [], { path: "/api/v1/send/draft", status: 404, code: "template_not_found", contains: ["not published"] }),
    send("a marketing template", { to }, [], { path: "/api/v1/send/news", status: 404, code: "template_not_found" }),
    send("a partial", { to }, [], { path: "/api/v1/send/part", status: 404, code: "template_not_found" }),
    send("Set B without a slug", { to }, ["slug required"], { path: "/api/v1/v1/emails/send-template" }),
    send("Set B with two", { to, slug: "good", template: "good" }, ["template duplicate"], { path: "/api/v1/v1/emails/send-template" }),
    { name: "another method", path: "/api/v1/send/good", method: "GET", status: 405, code: "method_not_allowed" },
    { name: "no key", path: "/api/v1/send/good", key: null, body: { to }, status: 401, code: "unauthorized" },
    { name: "a template of another id", path: `${PATH}/tpl_nothing`, method: "GET", status: 404, code: "not_found" },
    { name: "a version that is no number", path: `${PATH}/tpl_nothing?version=x`, method: "GET", status: 400, code: "validation_error" },
    {
      name: "a page of 1000",
      path: `${PATH}?limit=1000`,
      method: "GET",
      status: 400,
      code: "validation_error",
      details: ["limit too_big"],
    },
  ],
  {
    before,
    afterwards: async (world) => {
      expect((await world.sdk.emails.list()).pagination.total).toBe(0);
      expect(await world.inbox.all()).toEqual([]);
    },
  },
);

scenarios(
  "keys without the permission",
  ({ world }) => {
    const rows: Scenario[] = [];
    const refuse = (name: string, method: string, path: string, key: string, body?: unknown): void =>
      void rows.push({ name, method, path, key, body, status: 403, code: "forbidden" });
    const { reader, writer, sender } = keys.get(world) ?? { reader: "", writer: "", sender: "" };
    refuse("a reader writes", "POST", PATH, reader, { name: "x" });
    refuse("a reader sends", "POST", "/api/v1/send/good", reader, { to });
    refuse("a writer reads", "GET", PATH, writer);
    refuse("a writer sends a test", "POST", `${PATH}/tpl_x/test`, writer, { to });
    refuse("a sender reads", "GET", "/api/v1/v1/templates/good", sender);
    rows.push({
      name: "a sender sends",
      path: "/api/v1/send/good",
      key: sender,
      body: { to, variables: { name: "x", ...w } },
      status: 200,
    });
    return rows;
  },
  {
    before: async (world) => {
      await before(world);
      keys.set(world, {
        reader: await keyFor(world, "templates:read"),
        writer: await keyFor(world, "templates:write"),
        sender: await keyFor(world, "transactional:send"),
      });
    },
  },
);

const keys = new WeakMap<TestWorld, { reader: string; writer: string; sender: string }>();
