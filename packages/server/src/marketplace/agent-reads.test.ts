import { AGENT_SCOPES, agentContract, type Endpoint } from "@mailsvc/sdk/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgent, pdf, png, type TestAgent } from "../../test/agent.ts";
import { createWorld, type TestWorld } from "../testing.ts";

let world: TestWorld;
let agent: TestAgent;

beforeAll(async () => {
  world = await createWorld();
  agent = await createTestAgent(world);
});
afterAll(() => world.dispose());

describe("the brand, for agents", () => {
  test("has colors, logo and voice, and an ETag; no rules, no owner, no sender", async () => {
    const logo = await world.sdk.assets.create({ fileName: "logo.png", contentBase64: png(20, 10).toString("base64") });
    await world.sdk.brand.update({
      name: "Fern",
      logoAssetId: logo.id,
      colors: { primary: "#0f766e" },
      voice: { tone: ["calm"] },
      publishNeedsApproval: true,
    });
    const { status, body, headers } = await agent.call("GET", "/brand");
    expect(status).toBe(200);
    expect(body).toEqual({
      name: "Fern",
      website: null,
      logo: { url: logo.url, width: 20, height: 10 },
      colors: { primary: "#0f766e", secondary: null, accent: null, background: null, text: null },
      fonts: { heading: null, body: null },
      voice: { tone: ["calm"], description: "", dos: [], donts: [] },
      locale: null,
      timezone: "UTC",
      updatedAt: expect.any(String),
    });
    const etag = headers.get("etag") as string;
    const again = await agent.call("GET", "/brand", undefined, { "if-none-match": etag });
    expect(again).toMatchObject({ status: 304, text: "" });
    expect(again.headers.get("etag")).toBe(etag);
    await world.sdk.brand.update({ name: "Field", publishNeedsApproval: false });
    expect(await agent.call("GET", "/brand", undefined, { "if-none-match": etag })).toMatchObject({ status: 200, body: { name: "Field" } });
  });
});

describe("lists, for agents", () => {
  test("have names and sizes, in pages, and nothing else", async () => {
    const made = [];
    for (let i = 0; i < 3; i += 1)
      made.push(await world.sdk.lists.create({ name: `List ${i}`, description: i === 0 ? "The first" : null }));
    const strict = await world.sdk.lists.create({
      name: "Strict",
      doubleOptIn: true,
      confirmationFrom: "Secret Sender <secret@fern.test>",
    });
    await Promise.all(["a", "b", "c"].map((who) => world.sdk.contacts.create({ email: `${who}@example.com` })));
    await world.sdk.lists.add(made[0]?.id ?? "", { contacts: ["a@example.com", "b@example.com"] });
    await world.sdk.lists.add(strict.id, { contacts: ["c@example.com"] });
    const { body, text } = await agent.call("GET", "/lists?limit=2");
    expect(body.pagination).toMatchObject({ total: 4, hasMore: true });
    expect(body.data.map((l: { name: string; contactCount: number }) => [l.name, l.contactCount])).toEqual([
      ["Strict", 0],
      ["List 2", 0],
    ]);
    expect(text).not.toMatch(/secret|@/i);
    const next = await agent.call("GET", `/lists?limit=2&cursor=${body.pagination.nextCursor}`);
    expect(next.body.data.map((l: { name: string }) => l.name)).toEqual(["List 1", "List 0"]);
    const one = await agent.call("GET", `/lists/${made[0]?.id}`);
    expect(one.body).toEqual({
      id: made[0]?.id,
      name: "List 0",
      description: "The first",
      contactCount: 2,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    await world.sdk.lists.delete(made[0]?.id ?? "");
    expect(await agent.call("GET", `/lists/${made[0]?.id}`)).toMatchObject({ status: 404 });
    expect(await agent.call("GET", "/lists/list_none")).toMatchObject({ status: 404 });
    expect(await agent.call("GET", "/lists?limit=101")).toMatchObject({ status: 400 });
  });
});

const CANARY = "canary7731";

test("no response to an agent with all scopes contains contacts, emails or senders", async () => {
  await using planted = await createWorld();
  const spy = await createTestAgent(planted, { permissions: [...AGENT_SCOPES] });
  const { sdk } = planted;
  const contact = await sdk.contacts.create({
    email: `${CANARY}@example.com`,
    firstName: CANARY,
    lastName: CANARY,
    phone: CANARY,
    tags: [CANARY],
    customFields: { [CANARY]: CANARY },
  });
  await sdk.emails.send({
    from: `${CANARY} <${CANARY}@sender.test>`,
    to: `${CANARY}@example.com`,
    subject: CANARY,
    text: CANARY,
    tags: { t: CANARY },
  });
  await sdk.suppressions.create({ email: `x${CANARY}@example.com`, note: CANARY });
  const list = await sdk.lists.create({
    name: "Plain",
    doubleOptIn: true,
    confirmationFrom: `${CANARY}@sender.test`,
    confirmationSubject: CANARY,
  });
  await sdk.lists.add(list.id, { contacts: [contact.id] });
  const magnet = (await spy.call("POST", "/lead-magnets", { title: "T", fileName: "a.pdf", contentBase64: pdf().toString("base64") })).body;
  const page = (await spy.call("POST", "/landing-pages", { title: "P", listId: list.id, leadMagnetId: magnet.id, status: "PUBLISHED" }))
    .body;
  await planted.fetch(page.url, {
    method: "POST",
    redirect: "manual",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      referer: `https://a.example/${CANARY}?${CANARY}`,
      "user-agent": CANARY,
    },
    body: `email=new${CANARY}@example.com`,
  });
  await planted.fetch(page.url, { headers: { referer: `https://${CANARY}:${CANARY}@a.example/${CANARY}`, "user-agent": CANARY } });
  await planted.settle();
  const submissions = await sdk.landingPages.submissions(page.id).toArray();
  expect(submissions).toHaveLength(1);

  const ids = [page.id, magnet.id, list.id, contact.id, submissions[0]?.contactId ?? "", submissions[0]?.id ?? "", "x", `${CANARY}`];
  const seen: string[] = [];
  const look = async (method: string, path: string): Promise<void> => {
    const response = await planted.fetch(planted.url + path, {
      method,
      headers: { authorization: `Bearer ${spy.key}`, "content-type": "application/json" },
      ...(method === "GET" ? {} : { body: "{}" }),
    });
    const text = `${await response.text()} ${[...response.headers].join(" ")}`;
    // The caller's own path may be repeated in the response, nothing else.
    const written = [CANARY, contact.id, submissions[0]?.contactId ?? CANARY].some((own) => path.includes(own));
    seen.push(written ? "" : text);
    expect(response.status, `${method} ${path}`).toBeLessThan(500);
  };
  const endpoints = Object.values(agentContract).flatMap((verbs) => Object.values(verbs)) as Endpoint[];
  for (const { method, path } of endpoints) {
    const own = path.replace(":activationId", spy.activationId);
    for (const id of own.includes(":") ? ids : [""]) await look(method, own.replace(/:[A-Za-z]+/g, id));
  }
  for (const id of ids)
    for (const guess of ["contacts", "submissions", "subscribers", "members"]) {
      await look("GET", `${spy.path(`/lists/${id}/${guess}`)}`);
      await look("GET", `${spy.path(`/landing-pages/${id}/${guess}`)}`);
    }
  expect(seen.length).toBeGreaterThan(80);
  for (const text of seen) {
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain(contact.id);
    expect(text).not.toContain(submissions[0]?.contactId ?? "-");
  }
});
