import { contract, type Endpoint, paramNames } from "@mailsvc/sdk/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browse, signIn } from "../../test/browser-session.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/** Parts of a mail and of a person that support must never see. */
const HIDDEN = ["Your code is 4711", "secret-body", "Zwirnkopf", "vip-tag", "secret.pdf", "c2VjcmV0", "order-4711", "/secret-link"];

/** What any role may call: facts about the caller and the server. */
const FOR_ALL = ["lint.rules", "me.get", "me.checkRelays"];
const FOR_SUPPORT = ["mailStates.list", "mailStates.get", ...FOR_ALL];

let world: TestWorld;
let cookie: string;
let ids: Readonly<Record<string, string>>;
beforeAll(async () => {
  world = await createWorld({ dev: false, flags: { "trust-sender": "acme.example" } });
  const contact = await world.sdk.contacts.create({ email: "ada@example.com", lastName: "Zwirnkopf", tags: ["vip-tag"] });
  const sent = await world.sdk.emails.send({
    from: "shop@acme.example",
    to: "Ada Zwirnkopf <ada@example.com>",
    subject: "Your code is 4711",
    html: '<a href="https://acme.example/secret-link">secret-body</a>',
    tags: { order: "order-4711" },
    attachments: [{ filename: "secret.pdf", content: "c2VjcmV0" }],
  });
  await world.settle();
  cookie = await signIn(world, "support");
  ids = { em: (sent as { id: string }).id, con: contact.id };
});
afterAll(() => world?.dispose());

const CALLS = Object.entries(contract).flatMap(([noun, verbs]) =>
  Object.entries<Endpoint>(verbs).map((endpoint) => [`${noun}.${endpoint[0]}`, endpoint[1]] as const),
);

/** The call of an endpoint, with the ids of the mail and the person wherever it takes one. */
function toCall({ path, examples }: Endpoint): { path: string; body: object } {
  const [example] = examples ?? [];
  const fill = (name: string): string => {
    const shown = example?.params?.[name] ?? "x";
    return encodeURIComponent(ids[shown.slice(0, shown.indexOf("_"))] ?? shown);
  };
  const query = new URLSearchParams(Object.entries({ ...example?.query }).map(([name, value]) => [name, String(value)]));
  const at = paramNames(path).reduce((text, name) => text.replace(`:${name}`, fill(name)), path as string);
  return { path: query.size === 0 ? at : `${at}?${query}`, body: (example?.body as object | undefined) ?? {} };
}

test.each(CALLS)("support may call %s only if the contract says so, and sees neither content nor people's data", async (id, endpoint) => {
  const { path, body } = toCall(endpoint);
  const { access, method } = endpoint;
  const answer = await browse(world, method, path, { cookie, ...(method !== "GET" && !endpoint.raw && { body }) });
  const text = JSON.stringify(answer.body);
  for (const hidden of HIDDEN) expect(text, `${id} tells ${hidden}`).not.toContain(hidden);
  if (access === "public" || access === "dev") return;
  const allowed = FOR_SUPPORT.includes(id);
  if (allowed) expect(answer.status, id).toBeLessThan(400);
  else expect([id, answer.status === 200 || answer.status === 201]).toEqual([id, false]);
  if (!allowed && typeof access === "object") expect([id, answer.status]).toEqual([id, 403]);
});

test("support sees whether a mail arrived, to whom and when", async () => {
  const list = (await browse(world, "GET", "/api/v1/mail-states?to=ada@example.com", { cookie })).body;
  expect(list.data).toMatchObject([{ id: ids["em"], to: "ada@example.com", status: "delivered" }]);
  const { body } = await browse(world, "GET", `/api/v1/mail-states/${ids["em"]}`, { cookie });
  expect(body.events.map(({ type }: { type: string }) => type)).toContain("email.delivered");
  expect((await browse(world, "GET", "/api/v1/mail-states?subject=Your", { cookie })).status).toBe(400);
});

test.each(["emails", "inbox", "received", "campaigns"])("support sees no mail in the frames of %s", async (name) => {
  const { status, body } = await browse(world, "GET", `/dashboard/frame/${name}/${ids["em"]}`, { cookie });
  expect(status).toBe(403);
  expect(String(body)).not.toContain("secret-body");
});

test("support follows no events and uses no tools of assistants", async () => {
  expect((await browse(world, "GET", "/api/v1/events/stream", { cookie, headers: { accept: "text/event-stream" } })).status).not.toBe(200);
  expect((await browse(world, "POST", "/mcp", { cookie, body: { jsonrpc: "2.0", id: 1, method: "tools/list" } })).status).toBe(401);
});
