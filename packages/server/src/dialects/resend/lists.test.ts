import { afterAll, beforeAll, expect, test } from "vitest";
import { receiver } from "../../../test/receiver.ts";
import { call, type ResendServer, startResend } from "../../../test/resend-server.ts";
import { RESEND_OPERATIONS } from "./resend.ts";

let server: ResendServer;
let hooks: Awaited<ReturnType<typeof receiver>>;
/** The paths of all lists, with two items in each that is not named in `EMPTY`. */
let paths: ReadonlyMap<string, string>;

// Nothing of these can be made through Resend's API alone.
const EMPTY = new Set(["/emails/receiving", "/emails/receiving/:id/attachments", "/broadcasts/:id/clicked-links"]);

beforeAll(async () => {
  server = await startResend();
  hooks = await receiver();
  const twice = async (path: string, ...bodies: unknown[]): Promise<string[]> => {
    const ids: string[] = [];
    for (const body of bodies) ids.push(((await call(server, "POST", path, body)).body as { id: string }).id);
    return ids;
  };
  const [webhook = ""] = await twice(
    "/webhooks",
    ...["a", "b"].map(() => ({ endpoint: hooks.url, events: ["email.sent", "email.delivered"] })),
  );
  const attachments = ["a.txt", "b.txt"].map((filename) => ({ filename, content: "SGk=" }));
  const hello = { from: "a@acme.com", to: "ada@example.com", subject: "Hi", text: "Hi", attachments };
  const [email = ""] = await twice("/emails", hello, hello);
  const segments = await twice("/segments", { name: "One" }, { name: "Two" });
  const topic = { default_subscription: "opt_out" };
  await twice("/topics", { ...topic, name: "News" }, { ...topic, name: "Offers" });
  const member = (name: string) => ({ email: `${name}@example.com`, segments });
  const [contact = ""] = await twice("/contacts", member("kay"), member("leo"));
  const [list = ""] = segments;
  const broadcast = { segment_id: list, from: "a@acme.com", subject: "News", text: "News" };
  const [sent = ""] = await twice("/broadcasts", broadcast, broadcast);
  const template = { html: "<p>Hi</p>" };
  await twice("/templates", { ...template, name: "One" }, { ...template, name: "Two" });
  await twice("/contact-properties", { key: "plan", type: "string" }, { key: "age", type: "number" });
  await twice("/suppressions", { email: "x@example.com" }, { email: "y@example.com" });
  await twice("/domains", { name: "one.acme.com" }, { name: "two.acme.com" });
  await twice("/api-keys", { name: "One" }, { name: "Two" });
  const steps = [
    { key: "trigger", type: "trigger", config: { event_name: "joined" } },
    { key: "wait", type: "delay", config: { duration: "3 days" } },
  ];
  const automation = { name: "Welcome", status: "enabled", steps, connections: [{ from: "trigger", to: "wait" }] };
  const [entered = ""] = await twice("/automations", automation, automation);
  await twice("/events", { name: "joined" }, { name: "left" });
  for (const name of ["kay", "leo"])
    await server.resend.contacts.imports.create({ file: new Blob([`email\n${name}@example.com`]), onConflict: "skip" });
  await twice("/events/send", { event: "joined", email: "kay@example.com" }, { event: "joined", email: "leo@example.com" });
  await server.settle();
  const events = (await call(server, "GET", `/webhooks/${webhook}/events`)).body as { data: { id: string }[] };
  const [event] = events.data;
  await call(server, "POST", `/webhooks/${webhook}/events/${event?.id}/replay`);
  await server.settle();
  const ids: Readonly<Record<string, string>> = {
    ...{ "/emails/:id": email, "/contacts/:id": contact, "/broadcasts/:id": sent, "/webhooks/:id": webhook, "/automations/:id": entered },
    ...{ "/emails/receiving/:id": "rcv_none", ":list": list, ":delivery": event?.id ?? "" },
  };
  const fill = (path: string): string =>
    Object.entries(ids).reduce((filled, [at, id]) => filled.replace(at, at.replace(/:\w+$/, id)), path);
  const lists = RESEND_OPERATIONS.filter(({ method, path }) => method === "GET" && !/\/:\w+$|\/metrics$|\/recipients$/.test(path));
  paths = new Map(lists.map(({ path }) => [path, fill(path)]));
});
afterAll(async () => {
  await hooks[Symbol.asyncDispose]();
  await server.close();
});

interface Listed {
  readonly object: string;
  readonly has_more: boolean;
  readonly data: readonly { readonly id: string }[];
}

test("every list is paged by limit, after and before", async () => {
  expect(paths.size).toBeGreaterThan(15);
  for (const [path, at] of paths) {
    const read = async (query: string): Promise<{ more: boolean; ids: readonly string[] }> => {
      const { status, body } = await call(server, "GET", `${at}${query}`);
      expect([path, query, status, body]).toEqual([path, query, path.includes("/receiving/") ? 404 : 200, expect.anything()]);
      if (status === 404) return { more: false, ids: [] };
      const { object, has_more: more, data } = body as Listed;
      expect([path, object]).toEqual([path, "list"]);
      return { more, ids: data.map(({ id }) => id) };
    };
    const all = await read("");
    if (EMPTY.has(path)) {
      await read("?limit=1");
      continue;
    }
    const [first, second] = all.ids;
    expect([path, all.ids.length]).toEqual([path, expect.toSatisfy((n: number) => n > 1)]);
    expect([path, await read("?limit=1")]).toEqual([path, { more: true, ids: [first] }]);
    expect([path, (await read(`?limit=1&after=${first}`)).ids]).toEqual([path, [second]]);
    expect([path, await read(`?before=${second}`)]).toEqual([path, { more: false, ids: [first] }]);
  }
});

test("an id that is not in a short list is refused, and so are two places at once", async () => {
  for (const query of ["?after=none", "?before=none", "?after=1&before=2"])
    expect([query, await call(server, "GET", `${paths.get("/emails/:id/attachments")}${query}`)]).toEqual([
      query,
      { status: 422, body: expect.objectContaining({ name: "validation_error" }) },
    ]);
});

test("contacts are listed by their segment", async () => {
  const { body } = await call(server, "POST", "/segments", { name: "Nobody" });
  const { id } = body as { id: string };
  expect(await call(server, "GET", `/contacts?segment_id=${id}`)).toMatchObject({ status: 200, body: { data: [] } });
});

test("a contact is named by its externalId wherever its id or address is taken", async () => {
  const made = await fetch(`${server.url}/api/v1/contacts`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ email: "own@example.com", externalId: "user-7" }),
  });
  expect(made.status).toBe(201);
  const { resend } = server;
  const id = (await resend.contacts.get({ email: "own@example.com" })).data?.id;
  expect((await resend.contacts.get({ id: "user-7" })).data).toMatchObject({ id, email: "own@example.com" });
  expect((await resend.contacts.update({ id: "user-7", lastName: "Ng" })).data).toMatchObject({ id });
  expect((await resend.contacts.get({ id: "user-7" })).data).toMatchObject({ last_name: "Ng" });
  expect((await resend.contacts.remove({ id: "user-7" })).error).toBeNull();
  expect((await resend.contacts.get({ id: "user-7" })).error).toMatchObject({ name: "not_found" });
});
