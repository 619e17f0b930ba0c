import { contract } from "@mailsvc/sdk/contract";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { connectMcp, ERAS } from "../../test/mcp-client.ts";
import { createWorld } from "../testing.ts";

const hello = { from: "Acme <hello@acme.example>", to: "ada@example.com", subject: "Hello", text: "Your code is 482913." };

const READING = [
  ...["api_call", "api_search", "campaign_stats", "deliveries_list", "delivery_get", "docs_search", "email_get", "emails_list"],
  ...[
    "errors_explain",
    "events_list",
    "inbox_expect_none",
    "inbox_list",
    "inbox_wait",
    "lint_html",
    "metrics_get",
    "template_render",
    "whoami",
    "why",
  ],
];
const WRITING = ["campaign_send", "redeliver", "send"];
const DEV = ["clock_advance", "faults_add", "simulate", "world_reset"];

describe.each(ERAS)("in the era %s", (era) => {
  test("all tools of dev mode are listed in the same order each time, and no more than clients take", async () => {
    await using world = await createWorld();
    const { client } = await connectMcp(world, { era });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual([...READING, ...WRITING, ...DEV].sort());
    expect(names.length - ["api_call", "api_search"].length).toBeLessThanOrEqual(24);
    expect(await client.listTools()).toEqual(await client.listTools());
    // Clients pass the list on to their model.
    expect(JSON.stringify(await client.listTools()).length).toBeLessThan(40_000);
  });

  test("a server in production offers what reads, and with writes what sends, but nothing of dev mode", async () => {
    await using reading = await createWorld({ dev: false });
    await using writing = await createWorld({ dev: false, flags: { mcp: "write" } });
    const [few, more] = await Promise.all(
      [reading, writing].map(async (world) => (await (await connectMcp(world, { era })).client.listTools()).tools.map(({ name }) => name)),
    );
    expect(few).toEqual(READING);
    expect(more).toEqual([...READING, ...WRITING].sort());
  });

  test("documents are read as resources, and prompts have their arguments filled in", async () => {
    await using world = await createWorld();
    const { client } = await connectMcp(world, { era });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining(["mailsvc://docs/emails", "mailsvc://docs/start/server", "mailsvc://errors"]),
    );
    const { contents } = await client.readResource({ uri: "mailsvc://docs/emails" });
    expect(contents).toEqual([expect.objectContaining({ mimeType: "text/markdown", text: expect.stringContaining("# Emails") })]);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["try_a_sequence", "why_did_it_not_arrive"]);
    const prompt = await client.getPrompt({ name: "why_did_it_not_arrive", arguments: { id_or_address: "em_1" } });
    expect(JSON.stringify(prompt.messages)).toContain("Find out why mail did not arrive: em_1");
    await expect(client.getPrompt({ name: "why_did_it_not_arrive", arguments: {} })).rejects.toThrow(
      "The argument id_or_address is missing",
    );
    await expect(client.readResource({ uri: "mailsvc://docs/../secret" })).rejects.toThrow("not found");
  });

  test("the source of an email is a resource", async () => {
    await using world = await createWorld();
    const { client, data } = await connectMcp(world, { era });
    const { result } = await data("send", hello);
    await world.settle();
    const { contents } = await client.readResource({ uri: `mailsvc://email/${result.id}.eml` });
    expect(contents).toEqual([
      expect.objectContaining({ mimeType: "message/rfc822", text: expect.stringContaining("Subject: Hello\r\n") }),
    ]);
    await expect(client.readResource({ uri: "mailsvc://email/em_none.eml" })).rejects.toThrow("not_found");
  });

  test("a tool that does not exist is an error of the protocol", async () => {
    await using world = await createWorld();
    const { call } = await connectMcp(world, { era });
    await expect(call("keys_create")).rejects.toThrow("There is no tool keys_create");
  });
});

test("every tool says what it does to the world, and has a schema for arguments and results", async () => {
  await using world = await createWorld();
  const { tools } = await (await connectMcp(world)).client.listTools();
  for (const { name, annotations, inputSchema, outputSchema, description } of tools) {
    expect([name, annotations]).toEqual([
      name,
      expect.objectContaining({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      }),
    ]);
    expect([name, inputSchema.type, inputSchema.additionalProperties, outputSchema?.type]).toEqual([name, "object", false, "object"]);
    expect(description?.length).toBeGreaterThan(20);
  }
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  expect(hints.emails_list).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  expect(hints.campaign_send).toMatchObject({ readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true });
  expect(hints.world_reset).toMatchObject({ destructiveHint: true, openWorldHint: false });
  const writes = tools.filter(
    ({ name, annotations }) => annotations?.readOnlyHint === false && !DEV.includes(name) && name !== "inbox_expect_none",
  );
  for (const { name, inputSchema, outputSchema } of writes)
    expect([name, Object(inputSchema.properties).idempotencyKey, Object(outputSchema?.properties).idempotencyKey]).toEqual([
      name,
      expect.anything(),
      expect.anything(),
    ]);
});

test("names, arguments and results of tools for operations are those of the contract", async () => {
  await using world = await createWorld();
  const { tools } = await (await connectMcp(world)).client.listTools();
  const send = tools.find(({ name }) => name === "send");
  const fields = Object.keys(contract.emails.send.body.shape);
  expect(Object.keys(send?.inputSchema.properties ?? {})).toEqual([...fields, "idempotencyKey"]);
  expect(send?.inputSchema.required).toEqual(["to", "from", "subject"]);
});

/** A day in which all kinds of objects come about, as results of every tool. */
async function callEverything() {
  const world = await createWorld();
  const hook = "https://hooks.example.com/mail";
  const { sdk } = world;
  const list = await sdk.lists.create({ name: "News" });
  for (const email of ["a@example.com", "b@example.com"])
    await sdk.lists.add(list.id, { contacts: [(await sdk.contacts.create({ email })).id] });
  const campaign = await sdk.campaigns.create({
    name: "Spring",
    subjectLine: "It is spring",
    fromEmail: "news@acme.example",
    recipientType: "list",
    listId: list.id,
    html: "<p>Hello</p>",
  });
  const webhook = await sdk.webhooks.create({ url: hook, events: ["*"] });
  const { client, data } = await connectMcp(world);
  const results: [string, unknown][] = [];
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const result = await data(name, input);
    results.push([name, result]);
    return result;
  };
  const sent = await call("send", { ...hello, html: "<p>Hi</p>" });
  const simulated = await call("simulate", { outcome: "bounced" });
  await call("clock_advance", { by: "1h" });
  await call("whoami");
  await call("emails_list", { status: "bounced" });
  await call("email_get", { id: simulated.id });
  await call("email_get", { id: sent.result.id, includeHtml: true });
  await call("why", { id: simulated.id });
  await call("inbox_list", { to: "ada@example.com" });
  await call("inbox_wait", { to: "ada@example.com" });
  await call("inbox_expect_none", { to: "nobody@example.com", within: "1d" });
  await call("events_list", {});
  await call("metrics_get", {});
  await call("campaign_send", { id: campaign.id });
  await call("clock_advance", { by: "1h" });
  await call("campaign_stats", { id: campaign.id });
  const deliveries = await call("deliveries_list", { id: webhook.id });
  await call("delivery_get", { id: webhook.id, delivery: deliveries.data[0].id });
  await call("redeliver", { id: webhook.id, delivery: deliveries.data[0].id });
  await call("template_render", { subject: "Hi {{name}}", html: "<p>{{name}}</p>", variables: { name: "Ada" } });
  await call("lint_html", { html: "<p>Hello <a>here</a></p>" });
  await call("docs_search", { query: "bounces" });
  await call("errors_explain", { code: "sender_not_verified" });
  await call("api_search", { query: "contacts" });
  await call("api_search", { operation: "contacts.create" });
  await call("api_call", { operation: "contacts.create", input: { email: "c@example.com" } });
  await call("api_call", { operation: "contacts.list", input: { limit: 100 } });
  await call("faults_add", { method: "POST", path: "/api/v1/send", code: "queue_failed", count: 1 });
  await call("world_reset");
  const { tools } = await client.listTools();
  return { world, tools, results, [Symbol.asyncDispose]: () => world.dispose() };
}

test("what each tool gives fits its schema, for a validator of another make", async () => {
  await using t = await callEverything();
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
  addFormats.default(ajv);
  expect(new Set(t.results.map(([name]) => name))).toEqual(new Set(t.tools.map(({ name }) => name)));
  for (const [name, result] of t.results) {
    const { outputSchema } = t.tools.find((tool) => tool.name === name) ?? {};
    const validate = ajv.compile(Object(outputSchema));
    validate(result);
    expect([name, validate.errors]).toEqual([name, null]);
  }
  for (const { name, inputSchema } of t.tools) expect([name, ajv.validateSchema(Object(inputSchema))]).toEqual([name, true]);
});

test("a repeated write takes effect once, and says so; another key does it again", async () => {
  await using world = await createWorld();
  const { data } = await connectMcp(world);
  const first = await data("send", hello);
  const again = await data("send", { text: hello.text, subject: hello.subject, to: hello.to, from: hello.from });
  expect(again).toEqual({ ...first, replayed: true });
  expect(await data("send", { ...hello, idempotencyKey: "once-more" })).toMatchObject({ idempotencyKey: "once-more", replayed: false });
  await world.settle();
  expect(await world.inbox.all()).toHaveLength(2);
});

test("a write that sends nothing takes effect each time, also with the same arguments", async () => {
  await using world = await createWorld();
  const { data } = await connectMcp(world);
  const list = await world.sdk.lists.create({ name: "News" });
  for (const name of ["Letters", "News", "Letters"]) {
    const written = await data("api_call", { operation: "lists.update", input: { id: list.id, name } });
    expect(written).toMatchObject({ result: { name }, idempotencyKey: null, replayed: false });
    expect((await world.sdk.lists.get(list.id)).name).toBe(name);
  }
  const keyed = { operation: "lists.update", input: { id: list.id, name: "Once" }, idempotencyKey: "once" };
  expect([(await data("api_call", keyed)).replayed, (await data("api_call", keyed)).replayed]).toEqual([false, true]);
});

test("lists have twenty items at most, and more by their cursor", async () => {
  await using world = await createWorld();
  for (let i = 0; i < 25; i += 1) await world.sdk.emails.send({ ...hello, to: `p${i}@example.com` });
  const { data } = await connectMcp(world);
  const first = await data("emails_list", {});
  expect([first.data.length, first.pagination.total]).toEqual([20, 25]);
  const called = await data("api_call", { operation: "emails.list", input: { limit: 100, cursor: first.pagination.nextCursor } });
  expect(called.result.data).toHaveLength(5);
});

test("the wrong arguments are named, and an unknown code or operation gets a suggestion", async () => {
  await using world = await createWorld();
  const { failure } = await connectMcp(world);
  expect(await failure("send", { ...hello, to: "nowhere" })).toMatch(/^validation_error: .*\n {2}to: /);
  expect(await failure("inbox_list", { limit: 500 })).toContain("limit");
  expect(await failure("why", {})).toBe("explanations.get needs the argument id: a text.");
  expect(await failure("errors_explain", { code: "sender_not_verifid" })).toContain("Did you mean sender_not_verified?");
  expect(await failure("api_call", { operation: "contact.create" })).toContain("Did you mean contacts.create?");
  expect(await failure("api_call", { operation: "campaigns.pause", input: { id: "x", why: 1 } })).toBe(
    "campaigns.pause has no argument why. Its arguments are: id.",
  );
  expect(await failure("api_call", { operation: "emails.list", input: { state: "sent" } })).toMatch(
    /^emails\.list has no argument state\. (Did you mean \w+\? )?Its arguments are: .*\bstatus\b/,
  );
  expect(await failure("api_call", { operation: "contacts.create", input: { email: "a@example.com", firstNam: "Ada" } })).toMatch(
    /^validation_error: .*\n {2}contacts\.create has no argument firstNam\. Did you mean firstName\? Its arguments are: .*email/,
  );
  expect(await failure("inbox_wait", { since: "2026-02-30T00:00:00Z" })).toContain("wrong:\n  since: There is no 2026-02-30: that month");
  expect(await failure("errors_explain", { kode: "not_found" })).toMatch(
    /^The arguments of errors_explain are wrong:\n(?:.*\n)* {2}errors_explain has no argument kode\. Did you mean code\? Its arguments are: code/,
  );
});
