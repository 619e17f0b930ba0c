import { expect, test } from "vitest";
import { startCliWithServer } from "./world.ts";

test("an address, slug or name is taken wherever an id is", async () => {
  const { world, mailsvc } = await startCliWithServer();
  const { sdk } = world;
  const ada = await sdk.contacts.create({ email: "Ada@example.com" });
  const welcome = await sdk.templates.create({ name: "Welcome mail", slug: "welcome", subject: "Hi", html: "<p>Hi</p>" });
  const list = await sdk.lists.create({ name: "News letter" });
  await sdk.lists.create({ name: "Newsletter" });
  const segment = await sdk.segments.create({ name: "VIPs", rules: { field: "tags", operator: "contains", value: "vip" } });
  const sender = await sdk.senders.create({ domain: "acme.example" });
  const key = await sdk.keys.create({ name: "shop", permissions: ["contacts:read"] });
  for (const [noun, name, id] of [
    ["contacts", "ada@example.com", ada.id],
    ["templates", "welcome", welcome.id],
    ["lists", "news letter", list.id],
    ["segments", "VIPs", segment.id],
    ["senders", "acme.example", sender.id],
  ] as const)
    expect((await mailsvc([noun, "get", name])).json.id, noun).toBe(id);
  expect((await mailsvc(["lists", "add", "News letter", "ada@example.com"])).code).toBe(0);
  expect((await mailsvc(["lists", "contacts", "News letter"])).json.data).toHaveLength(1);
  expect((await mailsvc(["keys", "revoke", "shop", "--yes"])).json.id).toBe(key.id);
});

test("an unknown name is not found; one that several objects have is refused with their ids", async () => {
  const { world, mailsvc } = await startCliWithServer();
  expect((await mailsvc(["contacts", "get", "nobody@example.com"])).code).toBe(6);
  const keys = await Promise.all(["a", "b"].map(() => world.sdk.keys.create({ name: "twin", permissions: ["contacts:read"] })));
  const { code, stderr } = await mailsvc(["keys", "revoke", "twin", "--yes"]);
  expect(code).toBe(2);
  for (const { id } of keys) expect(stderr).toContain(id);
});

test("a misspelt slug or name is answered with the one that was probably meant", async () => {
  const { world, mailsvc } = await startCliWithServer();
  const { sdk } = world;
  await sdk.templates.create({ name: "Welcome mail", slug: "welcome", subject: "Hi", html: "<p>Hi</p>", publish: true });
  await sdk.lists.create({ name: "Newsletter" });
  for (const [command, name] of [
    [["templates", "get", "welcom"], "welcome"],
    [["templates", "publish", "wellcome"], "welcome"],
    [["lists", "get", "Newsleter"], "Newsletter"],
    [["send", "--template", "welcom", "--to", "ada@example.com"], "welcome"],
  ] as const) {
    const { code, stderr } = await mailsvc([...command]);
    expect([code, stderr]).toEqual([6, expect.stringContaining(`Did you mean ${name}?`)]);
    expect(stderr).not.toContain("another workspace");
  }
  expect((await mailsvc(["templates", "get", "invoice"])).stderr).not.toContain("Did you mean");
});

test("a template is found on any page of the list", async () => {
  const { world, mailsvc } = await startCliWithServer();
  const first = await world.sdk.templates.create({ name: "First", slug: "first", html: "<p>1</p>" });
  for (let n = 0; n < 100; n += 1) await world.sdk.templates.create({ name: `More ${n}`, slug: `more-${n}`, html: "<p>x</p>" });
  expect((await mailsvc(["templates", "get", "first"])).json.id).toBe(first.id);
});

test("completion offers the names on the server, and nothing without one", async () => {
  const { world, mailsvc } = await startCliWithServer();
  await world.sdk.contacts.create({ email: "ada@example.com" });
  await world.sdk.contacts.create({ email: "grace@example.com" });
  const spaced = await world.sdk.lists.create({ name: "News letter" });
  await world.sdk.templates.create({ name: "W", slug: "welcome", html: "<p>Hi</p>" });
  const offers = async (...words: string[]): Promise<string[]> =>
    (await mailsvc(["__complete", "--", ...words])).stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0] ?? ""]));
  expect(await offers("contacts", "get", "ad")).toEqual(["ada@example.com"]);
  expect(await offers("lists", "get", "")).toEqual([spaced.id]);
  expect(await offers("templates", "publish", "w")).toEqual(["welcome"]);
  expect(await offers("send", "--template", "")).toEqual(["welcome"]);
  const offline = await mailsvc(["__complete", "--", "contacts", "get", ""], { fetch: () => Promise.reject(new Error("offline")) });
  expect(offline.code).toBe(0);
});
