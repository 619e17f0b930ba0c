import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Contract, contract } from "@mailsvc/sdk/contract";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { receiver } from "../../../test/receiver.ts";
import { call, type ResendServer, startResend } from "../../../test/resend-server.ts";
import { ABSENT, RESEND_OPERATIONS } from "./resend.ts";

// Calls every method of the official package, found by reflection, with sensible arguments. It gets a right answer in Resend's shape, or
// 501 with the way to do it here. The newest version is tested, and an older one that programs still pin.

const NEWEST = process.env["RESEND_PACKAGE"] ?? "resend";
const PACKAGES = process.env["RESEND_PACKAGE"] === undefined ? [NEWEST, "resend-older"] : [NEWEST];

let server: ResendServer;
let hooks: Awaited<ReturnType<typeof receiver>>;
let original: typeof fetch;
/** The last request of the package, as method and path of an operation. */
let asked = "";
const requests = new Set<string>();

async function start(name: string): Promise<void> {
  server = await startResend({ package: name });
  hooks = await receiver();
  requests.clear();
  original = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const { pathname } = new URL(String(input));
    if (pathname.startsWith("/resend/")) {
      asked = `${init?.method ?? "GET"} ${pathname.slice("/resend".length)}`;
      requests.add(asked);
    }
    return original(input, init);
  };
}

async function stop(): Promise<void> {
  globalThis.fetch = original;
  await hooks[Symbol.asyncDispose]();
  await server.close();
}

interface Call {
  readonly args: readonly unknown[];
  /** Expected data; null for a method that is not supported. */
  readonly data: unknown;
}

const id = expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const text = expect.any(String);
const page = (...data: unknown[]): unknown => ({ object: "list", has_more: false, data });
const anyPage = { object: "list", has_more: expect.any(Boolean), data: expect.any(Array) };
const absent = (...args: unknown[]): Call => ({ args, data: null });
const hello = { from: "Acme <hello@acme.com>", to: "ada@example.com", subject: "Hello", html: "<p>Hi</p>" };

/** Arguments of each method, called in this order, by its path in `new Resend()`. `made` has the ids that earlier calls gave. */
function planCalls(made: Record<string, string>): Readonly<Record<string, () => Call>> {
  const { here } = { here: (data: unknown, ...args: unknown[]): Call => ({ args, data }) };
  const object = (name: string, more: object = {}): unknown => ({ object: name, id, ...more });
  return {
    "domains.create": () => here({ id, name: "news.acme.com", status: "verified" }, { name: "news.acme.com" }),
    "domains.list": () => here({ object: "list", data: expect.any(Array) }),
    "domains.get": () => here(object("domain", { name: "news.acme.com", records: expect.any(Array) }), made["domains.create"]),
    "domains.update": () => here({ id }, { id: made["domains.create"], openTracking: false }),
    "domains.verify": () => here({ id }, made["domains.create"]),
    "domains.claims.create": () => absent({ name: "acme.com" }),
    "domains.claims.get": () => absent("d1"),
    "domains.claims.verify": () => absent("d1"),
    "domains.remove": () => here({ id, deleted: true }, made["domains.create"]),

    "apiKeys.create": () => here({ id, token: text }, { name: "shop" }),
    "apiKeys.list": () => here(expect.objectContaining({ data: expect.any(Array) })),
    "apiKeys.update": () => here(object("api_key"), made["apiKeys.create"], { name: "other" }),
    "apiKeys.remove": () => here(expect.anything(), made["apiKeys.create"]),

    "webhooks.create": () =>
      here(object("webhook", { signing_secret: text }), { endpoint: hooks.url, events: ["email.sent", "topic.created"] }),
    "webhooks.list": () => here(page(expect.objectContaining({ id, endpoint: hooks.url }))),
    "webhooks.get": () => here(object("webhook", { signing_secret: text }), made["webhooks.create"]),
    "webhooks.update": () => here(object("webhook"), made["webhooks.create"], { events: ["email.sent", "email.delivered"] }),
    "webhooks.rotateSigningSecret": () => here(object("webhook", { signing_secret: text }), made["webhooks.create"]),

    "emails.send": () => here({ id }, { ...hello, attachments: [{ filename: "a.txt", content: Buffer.from("Hi") }] }),
    "emails.create": () => here({ id }, { ...hello, scheduledAt: "in 1 hour" }),
    "emails.get": () => here(object("email", { to: ["ada@example.com"], last_event: text }), made["emails.send"]),
    "emails.list": () => here(anyPage),
    "emails.update": () => here(object("email"), { id: made["emails.create"], scheduledAt: "in 2 hours" }),
    "emails.cancel": () => here(object("email"), made["emails.create"]),
    "emails.share": () => absent(made["emails.send"]),
    "emails.metrics": () =>
      here(
        expect.objectContaining({ object: "metrics", totals: { sent: expect.any(Number) }, data: expect.any(Array), granularity: "daily" }),
        { metrics: ["sent"], dimensions: ["period"] },
      ),
    "emails.attachments.list": () => here(page(expect.objectContaining({ id, filename: "a.txt" })), { emailId: made["emails.send"] }),
    "emails.attachments.get": () =>
      here(object("attachment", { download_url: expect.stringContaining("/resend/files/") }), {
        ...{ emailId: made["emails.send"], id: made["emails.attachments.list"] },
      }),
    "emails.receiving.list": () => here(page()),
    "emails.receiving.get": () => here(404, "rcv_none"),
    "emails.receiving.forward": () => here(404, { emailId: "rcv_none", to: "a@example.com", from: "hello@acme.com" }),
    "emails.receiving.attachments.list": () => here(404, { emailId: "rcv_none" }),
    "emails.receiving.attachments.get": () => here(404, { emailId: "rcv_none", id: "1" }),
    "batch.send": () => here({ data: [{ id }, { id }] }, [hello, hello]),
    "batch.create": () => here({ data: [{ id }] }, [hello]),

    "webhooks.events.list": () => here(anyPage, { webhookId: made["webhooks.create"] }),
    "webhooks.events.get": () =>
      here(
        object("webhook_event", { id: text, type: text, status: text, payload: { type: text, created_at: text, data: expect.anything() } }),
        {
          ...{ webhookId: made["webhooks.create"], eventId: made["webhooks.events.list"] },
        },
      ),
    "webhooks.events.replay": () =>
      here(object("webhook_event", { id: text }), { webhookId: made["webhooks.create"], eventId: made["webhooks.events.list"] }),
    "webhooks.events.attempts.list": () =>
      here(
        { ...anyPage, data: expect.arrayContaining([{ id, http_status_code: 200, response: expect.any(String), sent_at: text }]) },
        {
          ...{ webhookId: made["webhooks.create"], eventId: made["webhooks.events.list"] },
        },
      ),
    "webhooks.remove": () => here(object("webhook", { deleted: true }), made["webhooks.create"]),

    "segments.create": () => here(object("segment", { name: "Readers" }), { name: "Readers" }),
    "segments.list": () => here(anyPage),
    "segments.get": () => here(object("segment", { name: "Readers" }), made["segments.create"]),
    "segments.update": () => here(object("segment"), made["segments.create"], { name: "Readers" }),

    "topics.create": () => here({ id }, { name: "Offers", defaultSubscription: "opt_out" }),
    "topics.list": () =>
      here({
        data: [{ id, name: "Offers", description: null, default_subscription: "opt_out", visibility: "public", created_at: text }],
      }),
    "topics.get": () => here({ id, name: "Offers", default_subscription: "opt_out" }, made["topics.create"]),
    "topics.update": () => here({ id }, { id: made["topics.create"], description: "Twice a month" }),

    "contactProperties.create": () => here(object("contact_property"), { key: "plan", type: "string", fallbackValue: "basic" }),
    "contactProperties.list": () => here(page({ id, key: "plan", type: "string", fallbackValue: "basic", createdAt: text })),
    "contactProperties.get": () =>
      here(object("contact_property", { key: "plan", fallbackValue: "basic" }), made["contactProperties.create"]),
    "contactProperties.update": () => here(object("contact_property"), { id: made["contactProperties.create"], fallbackValue: "free" }),

    "contacts.create": () =>
      here(object("contact"), {
        ...{ email: "kay@example.com", firstName: "Kay", properties: { plan: "pro" }, segments: [{ id: made["segments.create"] }] },
        topics: [{ id: made["topics.create"], subscription: "opt_in" }],
      }),
    "contacts.list": () => here(anyPage),
    "contacts.get": () =>
      here(
        object("contact", { email: "kay@example.com", properties: { plan: { type: "string", value: "pro" } } }),
        made["contacts.create"],
      ),
    "contacts.update": () => here(object("contact"), { email: "kay@example.com", lastName: "Ng" }),
    "contacts.segments.list": () =>
      here(page(expect.anything(), expect.objectContaining({ id: made["segments.create"] })), { email: "kay@example.com" }),
    "contacts.segments.add": () => here(expect.objectContaining({ id }), { email: "kay@example.com", segmentId: made["segments.create"] }),
    "contacts.segments.remove": () =>
      here(expect.objectContaining({ id, deleted: true }), { email: "kay@example.com", segmentId: made["segments.create"] }),
    "contacts.topics.list": () =>
      here(page(expect.objectContaining({ id: made["topics.create"], name: "Offers", subscription: "opt_in" })), {
        email: "kay@example.com",
      }),
    "contacts.topics.update": () =>
      here({ id }, { email: "kay@example.com", topics: [{ id: made["topics.create"], subscription: "opt_out" }] }),
    "contacts.imports.create": () => here(object("contact_import"), { file: new Blob(["email\na@example.com"]) }),
    "contacts.imports.list": () =>
      here(page(expect.objectContaining({ object: "contact_import", id: made["contacts.imports.create"], status: "completed" }))),
    "contacts.imports.get": () =>
      here(
        object("contact_import", {
          ...{ status: "completed", created_at: text, completed_at: text },
          counts: { total: 1, created: 1, updated: 0, skipped: 0, failed: 0 },
        }),
        made["contacts.imports.create"],
      ),

    "broadcasts.create": () =>
      here(expect.objectContaining({ id }), {
        ...{ segmentId: made["segments.create"], from: "news@acme.com", subject: "News" },
        html: "<p>{{{contact.plan}}}</p>",
      }),
    "broadcasts.list": () => here(anyPage),
    "broadcasts.get": () => here(object("broadcast", { html: expect.stringContaining('default plan "free"') }), made["broadcasts.create"]),
    "broadcasts.update": () => here({ id }, made["broadcasts.create"], { name: "Spring" }),
    "broadcasts.duplicate": () => here(object("broadcast"), made["broadcasts.create"]),
    "broadcasts.remove": () => here(object("broadcast", { deleted: true }), made["broadcasts.duplicate"]),
    "broadcasts.send": () => here({ id }, made["broadcasts.create"], { scheduledAt: "in 1 hour" }),
    "broadcasts.cancel": () => here({ id }, made["broadcasts.create"]),
    "broadcasts.clickedLinks": () => here(page(), made["broadcasts.create"]),
    "broadcasts.recipients": () => here(page(), made["broadcasts.create"], { type: "opened" }),

    "templates.create": () =>
      here(object("template"), {
        ...{ name: "Order", alias: "order", from: "hello@acme.com", subject: "For {{{NAME}}}", html: "<p>{{{NAME}}} {{{SIZE}}}</p>" },
        variables: [
          { key: "NAME", type: "string", fallbackValue: "you" },
          { key: "SIZE", type: "number" },
        ],
      }),
    "templates.list": () => here(page(expect.objectContaining({ id, alias: "order", status: "draft" }))),
    "templates.publish": () => here(object("template"), "order"),
    "templates.get": () =>
      here(
        object("template", {
          ...{ status: "published", subject: "For {{{NAME}}}", html: "<p>{{{NAME}}} {{{SIZE}}}</p>", current_version_id: text },
          variables: [
            expect.objectContaining({ key: "NAME", type: "string", fallback_value: "you" }),
            expect.objectContaining({ key: "SIZE", type: "number", fallback_value: null }),
          ],
        }),
        made["templates.create"],
      ),
    "templates.update": () => here(object("template"), made["templates.create"], { subject: "To {{{NAME}}}" }),
    "templates.duplicate": () => here(object("template"), "order"),
    "templates.remove": () => here(object("template", { deleted: true }), made["templates.duplicate"]),

    "events.send": () => here({ object: "event", event: "purchase" }, { event: "purchase", email: "kay@example.com", payload: { n: 1 } }),
    "events.create": () => here(object("event"), { name: "purchase", schema: { n: "number" } }),
    "events.list": () => here(page(expect.objectContaining({ id, name: "purchase", updated_at: null }))),
    "events.get": () =>
      here(object("event", { name: "purchase", schema: { n: "number" }, created_at: text, updated_at: null }), "purchase"),
    "events.update": () => here(object("event"), made["events.create"], { schema: null }),
    "events.remove": () => here(object("event", { deleted: true }), "purchase"),

    "suppressions.add": () => here(expect.objectContaining({ id }), { email: "no@example.com" }),
    "suppressions.list": () => here(anyPage),
    "suppressions.get": () => here(expect.objectContaining({ id, origin: "manual" }), "no@example.com"),
    "suppressions.remove": () => here(expect.objectContaining({ id }), "no@example.com"),
    "suppressions.batch.add": () => here({ data: [expect.anything()] }, { emails: ["b@example.com"] }),
    "suppressions.batch.remove": () => here({ data: [expect.anything()] }, { emails: ["b@example.com"] }),

    "automations.create": () =>
      here(object("automation"), {
        name: "Welcome",
        status: "enabled",
        steps: [
          { key: "start", type: "trigger", config: { eventName: "joined" } },
          { key: "wait", type: "delay", config: { duration: "3 days" } },
        ],
        connections: [{ from: "start", to: "wait" }],
      }),
    "automations.list": () => here(page({ id, name: "Welcome", status: "enabled", created_at: text, updated_at: text })),
    "automations.get": () =>
      here(object("automation", { name: "Welcome", status: "enabled", steps: expect.any(Array) }), made["automations.create"]),
    "automations.update": () => here(object("automation"), made["automations.create"], { name: "Other" }),
    "automations.duplicate": () => here(object("automation"), made["automations.create"]),
    "automations.stop": () => here(object("automation", { status: "disabled" }), made["automations.create"]),
    "automations.runs.list": () => here(page(), { automationId: made["automations.create"] }),
    "automations.runs.get": () => here(404, { automationId: made["automations.create"], runId: made["automations.create"] }),
    "automations.remove": () => here(object("automation", { deleted: true }), made["automations.create"]),

    "inboxes.create": () => absent({ name: "Help", email: "help@acme.com" }),
    "inboxes.list": () => absent(),
    "inboxes.get": () => absent("i1"),
    "inboxes.update": () => absent("i1", { name: "Help" }),
    "inboxes.remove": () => absent("i1"),
    "inboxes.agent.get": () => absent({ inboxId: "i1" }),
    "inboxes.agent.update": () => absent({ inboxId: "i1" }),
    "inboxes.drafts.list": () => absent({ inboxId: "i1" }),
    "inboxes.drafts.create": () => absent({ inboxId: "i1", to: ["a@example.com"] }),
    "inboxes.drafts.get": () => absent({ inboxId: "i1", draftId: "d1" }),
    "inboxes.drafts.update": () => absent({ inboxId: "i1", draftId: "d1" }),
    "inboxes.drafts.remove": () => absent({ inboxId: "i1", draftId: "d1" }),
    "inboxes.drafts.send": () => absent({ inboxId: "i1", draftId: "d1" }),
    "inboxes.labels.list": () => absent({ inboxId: "i1" }),
    "inboxes.labels.create": () => absent({ inboxId: "i1", name: "New" }),
    "inboxes.labels.update": () => absent({ inboxId: "i1", labelId: "l1" }),
    "inboxes.labels.remove": () => absent({ inboxId: "i1", labelId: "l1" }),
    "inboxes.threads.list": () => absent({ inboxId: "i1" }),
    "inboxes.threads.search": () => absent({ inboxId: "i1", query: "x" }),
    "inboxes.threads.get": () => absent({ inboxId: "i1", threadId: "t1" }),
    "inboxes.threads.update": () => absent({ inboxId: "i1", threadId: "t1" }),
    "inboxes.threads.remove": () => absent({ inboxId: "i1", threadId: "t1" }),
    "inboxes.threads.emails.list": () => absent({ inboxId: "i1", threadId: "t1" }),
    "inboxes.threads.emails.get": () => absent({ inboxId: "i1", threadId: "t1", emailId: "e1" }),
    "inboxes.threads.emails.reply": () => absent({ inboxId: "i1", threadId: "t1", emailId: "e1", text: "Hi" }),
    "inboxes.threads.emails.forward": () => absent({ inboxId: "i1", threadId: "t1", emailId: "e1", to: ["a@example.com"] }),
    "inboxes.threads.labels.add": () => absent({ inboxId: "i1", threadId: "t1", labels: ["l1"] }),
    "inboxes.threads.labels.set": () => absent({ inboxId: "i1", threadId: "t1", labels: ["l1"] }),
    "inboxes.threads.labels.remove": () => absent({ inboxId: "i1", threadId: "t1", labelId: "l1" }),

    "logs.list": () =>
      here({ object: "list", has_more: false, data: expect.arrayContaining([expect.objectContaining({ id, method: text })]) }),
    "logs.get": () => here(object("log", { response_status: expect.any(Number) }), made["logs.list"]),
    "oauthGrants.list": () => absent(),
    "oauthGrants.revoke": () => absent("g1"),
    "usage.get": () => absent(),

    "topics.remove": () => here({ id, object: "topic", deleted: true }, made["topics.create"]),
    "contactProperties.remove": () => here(object("contact_property", { deleted: true }), made["contactProperties.create"]),
    "contacts.remove": () => here(expect.objectContaining({ deleted: true }), made["contacts.create"]),
    "segments.remove": () => here(expect.objectContaining({ id, deleted: true }), made["segments.create"]),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The methods of an object and of the namespaces in it, such as `emails.attachments.get`; helpers are left out. */
function listMethods(of: object, helpers: ReadonlySet<string>, path: string[] = []): string[] {
  const own = Object.entries(of).flatMap(([name, inner]) =>
    isObject(inner) && inner.constructor !== Object && !(inner instanceof Headers) && !helpers.has(name)
      ? listMethods(inner, helpers, [...path, name])
      : [],
  );
  if (path.length === 0) return own;
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(of)).filter((name) => name !== "constructor" && !helpers.has(name));
  return [...methods.map((name) => [...path, name].join(".")), ...own];
}

/** The names that the types of the package declare private, and the namespace that is another name of one. */
function readHelpers(name: string): ReadonlySet<string> {
  const entry = createRequire(import.meta.url).resolve(name);
  const types = readFileSync(join(dirname(entry), "index.d.cts"), "utf8");
  return new Set(["audiences", ...[...types.matchAll(/private (?:readonly )?(?:get )?(\w+)/g)].map(([, name]) => name as string)]);
}

/** Operations that only older packages call, because the newest one uses other ones; operations.test.ts calls them. */
const MOVED: ReadonlySet<string> = new Set(["/segments/:list/contacts"]);

/** Methods that make no request. */
const LOCAL = new Set(["webhooks.verify"]);

const fits = (operation: { method: string; path: string }, request: string): boolean =>
  new RegExp(`^${operation.method} ${operation.path.replace(/:\w+/g, "[^/]+")}$`).test(request);

async function run(name: string, { args, data: expected }: Call): Promise<unknown> {
  const names = name.split(".");
  const last = names.pop() ?? "";
  const namespace = names.reduce<Record<string, unknown>>((of, one) => of[one] as Record<string, unknown>, server.resend as never);
  asked = "";
  const { data, error } = await (namespace[last] as (...all: unknown[]) => PromiseLike<{ data: unknown; error: unknown }>)(...args);
  if (expected === null) {
    const found = ABSENT.find((operation) => fits(operation, asked));
    expect([name, asked, error]).toEqual([
      name,
      asked,
      { statusCode: 501, name: "method_not_allowed", message: expect.stringContaining(found?.instead ?? "(no operation of the list)") },
    ]);
  } else if (expected === 404) expect([name, error]).toEqual([name, expect.objectContaining({ statusCode: 404, name: "not_found" })]);
  else {
    expect([name, asked, error]).toEqual([name, asked, null]);
    expect([name, data]).toEqual([
      name,
      isObject(expected) && !("asymmetricMatch" in expected) ? expect.objectContaining(expected) : expected,
    ]);
    expect(RESEND_OPERATIONS.some((operation) => fits(operation, asked))).toBe(true);
  }
  return data;
}

/** The methods of a version of the package that make requests. */
function listRequesting(name: string): string[] {
  return listMethods(server.resend, readHelpers(name)).filter((method) => !LOCAL.has(method));
}

describe.each(PACKAGES)("%s", (name) => {
  beforeAll(() => start(name));
  afterAll(stop);

  test("every method of the package is called", () => {
    const methods = listRequesting(name);
    const called = Object.keys(planCalls({}));
    expect(methods.length).toBeGreaterThan(70);
    expect(methods.filter((method) => !called.includes(method))).toEqual([]);
    if (name === NEWEST) expect(called.filter((method) => !methods.includes(method))).toEqual([]);
  });

  test("every method answers as Resend does, or says how to do it here", async () => {
    // Older versions print each error that they return.
    using _quiet = vi.spyOn(console, "error").mockImplementation(() => {});
    const made: Record<string, string> = {};
    const methods = new Set(listRequesting(name));
    for (const [method, plan] of Object.entries(planCalls(made))) {
      // Older versions cannot make the broadcast that is removed.
      if (!methods.has(method) && method === "broadcasts.duplicate")
        made[method] = ((await call(server, "POST", `/broadcasts/${made["broadcasts.create"]}/duplicate`)).body as { id: string }).id;
      if (!methods.has(method)) continue;
      if (method === "webhooks.events.list") await server.settle();
      const data = await run(method, plan());
      if (!isObject(data)) continue;
      const [first] = Array.isArray(data["data"]) ? data["data"] : [];
      made[method] = String(data["id"] ?? first?.id);
    }
    if (name !== NEWEST) return;
    const current = RESEND_OPERATIONS.filter(({ path }) => !path.startsWith("/audiences") && !MOVED.has(path));
    expect(
      current.filter((one) => ![...requests].some((request) => fits(one, request))).map(({ method, path }) => `${method} ${path}`),
    ).toEqual([]);
  });
});

describe("what is refused and listed", () => {
  beforeAll(() => start(NEWEST));
  afterAll(stop);

  test("a value of another type than its property was declared with is refused", async () => {
    const { contactProperties, contacts } = server.resend;
    await contactProperties.create({ key: "age", type: "number" });
    const { error } = await contacts.create({ email: "old@example.com", properties: { age: "forty" } });
    expect(error).toMatchObject({ statusCode: 422, message: "properties.age must be a number, as the property was declared." });
    expect((await contactProperties.create({ key: "age", type: "string" })).error).toMatchObject({ statusCode: 409 });
    expect((await contactProperties.create({ key: "size", type: "number", fallbackValue: "big" as never })).error).toMatchObject({
      statusCode: 422,
    });
  });

  test("the ways that are named exist", () => {
    const ids = Object.entries(contract as Contract).flatMap(([noun, verbs]) => Object.keys(verbs).map((verb) => `${noun} ${verb}`));
    // Commands beyond the contract.
    const commands = new Set([...ids, "open", "automations push", "emails batch"]);
    for (const { instead } of ABSENT) {
      expect(instead).toMatch(/\.$/);
      for (const [, command = ""] of instead.matchAll(/mailsvc ([a-z]+(?: [a-z]+)?)/g)) expect(commands).toContain(command);
    }
  });

  test("the index lists what is here and what is not", async () => {
    const index = (await (await original(`${server.url}/resend`)).json()) as {
      operations: { path: string }[];
      absent: { instead: string }[];
    };
    expect(index.operations).toHaveLength(RESEND_OPERATIONS.length);
    expect(index.absent).toEqual(ABSENT);
  });
});
