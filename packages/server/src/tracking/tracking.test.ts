import { Mailsvc } from "@mailsvc/sdk";
import { expect, test } from "vitest";
import { createWorld, type TestWorld, type WorldOptions } from "../testing.ts";
import { makeToken } from "./links.ts";

const PERSON = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0";
const HTML =
  '<html><body><a href="https://acme.example/a?x=1&amp;y=2">A</a> <a href="https://acme.example/b">B</a> <a href="https://acme.example/c">C</a> <a href="mailto:x@acme.example">M</a></body></html>';
const TRACKING = { opens: true, clicks: true };

/** A world with one delivered and tracked mail, and the addresses in it. */
async function delivered(send: Record<string, unknown> = {}, options: WorldOptions = {}) {
  const world = await createWorld(options);
  const mail = { from: "a@acme.test", to: "ada@example.com", subject: "Hi", html: HTML, tracking: TRACKING, ...send };
  const { id } = (await world.sdk.emails.send(mail)) as { id: string };
  const [captured] = await world.inbox.all();
  const html = (await world.sdk.inbox.get(captured?.id as string)).html?.trim() ?? "";
  const pixel = /src="([^"]*\/t\/o\/[^"]*)"/.exec(html)?.[1] ?? "";
  const links = [...html.matchAll(/href="([^"]*\/t\/c\/[^"]*)"/g)].map(([, url]) => url as string);
  const events = async (type: string) => (await world.sdk.emails.get(id)).events.filter((event) => event.type === type);
  const get = (url: string, { agent = PERSON, method = "GET" }: { agent?: string; method?: string } = {}) =>
    world.fetch(url, { method, redirect: "manual", headers: { "user-agent": agent } });
  return { world, id, html, pixel, links, events, get };
}

const advance = (world: TestWorld, by: string) => world.clock.advance(by);

test("a mail is tracked only if its send says so", async () => {
  const { world, html } = await delivered({ tracking: undefined });
  await using _ = world;
  expect(html).toBe(HTML);
});

test("opens and clicks are switched separately, and UTM parameters alone", async () => {
  const opens = await delivered({ tracking: { opens: true } });
  await using _1 = opens.world;
  expect([opens.pixel !== "", opens.links.length]).toEqual([true, 0]);
  const clicks = await delivered({ tracking: { clicks: true } });
  await using _2 = clicks.world;
  expect([clicks.pixel, clicks.links.length]).toEqual(["", 3]);
  const utm = await delivered({ tracking: { utm: { source: "news" } } });
  await using _3 = utm.world;
  expect(utm.html).toBe(HTML.replace("y=2", "y=2&amp;utm_source=news").replace(/example\/([bc])"/g, 'example/$1?utm_source=news"'));
});

test("addresses in tracked mail are short, contain no address, and are on the tracking host", async () => {
  const { world, pixel, links, html } = await delivered({}, { flags: { "tracking-url": "https://click.acme.example/" } });
  await using _ = world;
  for (const url of [pixel, ...links]) {
    expect(url).toMatch(/^https:\/\/click\.acme\.example\/t\/[oc]\/[\w-]{43,50}$/);
    expect(url).not.toMatch(/ada(?:@|%40)|example\.com/);
  }
  expect(html).toContain('<a href="mailto:x@acme.example">');
  expect(html).toMatch(/<img src="[^"]+" alt="" width="1" height="1"[^>]*><\/body><\/html>$/);
});

test("an open is recorded with its program, and counts as engagement", async () => {
  const { world, pixel, events, get } = await delivered();
  await using _ = world;
  await advance(world, "1h");
  const response = await get(pixel);
  expect([response.status, response.headers.get("content-type"), response.headers.get("cache-control")]).toEqual([
    200,
    "image/gif",
    "no-store, private",
  ]);
  expect((await response.arrayBuffer()).byteLength).toBeLessThan(50);
  await advance(world, "5s");
  expect(await events("email.opened")).toMatchObject([{ data: { machine: false, client: "Firefox", unique: true } }]);
});

test("a click leads to the target as it was written, and is recorded with the link", async () => {
  const { world, links, events, get } = await delivered({ tracking: { clicks: true, utm: { medium: "email" } } });
  await using _ = world;
  await advance(world, "1h");
  const at = new Date(world.clock.now()).toISOString();
  const response = await get(links[0] as string);
  expect([response.status, response.headers.get("location")]).toEqual([302, "https://acme.example/a?x=1&y=2&utm_medium=email"]);
  expect(await events("email.clicked")).toEqual([]);
  await advance(world, "5s");
  expect(await events("email.clicked")).toMatchObject([
    {
      at,
      data: {
        machine: false,
        client: "Firefox",
        unique: true,
        uniqueLink: true,
        linkId: expect.stringMatching(/^lnk_\w+$/),
        url: "https://acme.example/a?x=1&y=2&utm_medium=email",
      },
    },
  ]);
});

test("a scanner that requests all links of a mail is a machine, from its first click", async () => {
  const { world, links, events, get } = await delivered();
  await using _ = world;
  await advance(world, "1h");
  for (const link of links) {
    expect((await get(link)).status).toBe(302);
    await advance(world, "500ms");
  }
  await advance(world, "10s");
  expect((await events("email.clicked")).map(({ data }) => [data.machine, data.machineReason])).toEqual([
    [true, "burst"],
    [true, "burst"],
    [true, "burst"],
  ]);
  // A person who clicks later is the first one.
  await advance(world, "1h");
  await get(links[1] as string);
  await advance(world, "10s");
  expect((await events("email.clicked")).at(-1)).toMatchObject({ data: { machine: false, unique: true, uniqueLink: true } });
});

test("a scanner that loads the pixel like a browser and requests all links is a machine in all of it, and a later person is not", async () => {
  const { world, links, pixel, events, get } = await delivered();
  await using _ = world;
  await advance(world, "1h");
  const at = new Date(world.clock.now()).toISOString();
  await get(pixel);
  for (const link of links) {
    await advance(world, "200ms");
    await get(link);
  }
  await advance(world, "10s");
  expect(await events("email.opened")).toMatchObject([
    { at, data: { machine: true, machineReason: "burst", client: "Firefox", unique: true } },
  ]);
  expect((await events("email.clicked")).map(({ data }) => data.machineReason)).toEqual(["burst", "burst", "burst"]);
  await advance(world, "1h");
  await get(pixel);
  await advance(world, "3s");
  await get(links[0] as string);
  await advance(world, "10s");
  expect((await events("email.opened")).at(-1)).toMatchObject({ data: { machine: false, unique: true } });
  expect((await events("email.clicked")).at(-1)).toMatchObject({ data: { machine: false, unique: true } });
});

test("a scanner that loads the pixel after the links is a machine, too", async () => {
  const { world, links, pixel, events, get } = await delivered();
  await using _ = world;
  await advance(world, "1h");
  for (const link of links) await get(link);
  // They are recorded a moment later.
  await advance(world, "4900ms");
  await get(pixel);
  await advance(world, "10s");
  expect((await events("email.opened")).map(({ data }) => data.machineReason)).toEqual(["burst"]);
});

test("a person who clicks two links one after the other is no machine", async () => {
  const { world, links, events, get } = await delivered();
  await using _ = world;
  await advance(world, "1h");
  await get(links[0] as string);
  await advance(world, "3s");
  await get(links[1] as string);
  await advance(world, "10s");
  expect((await events("email.clicked")).map(({ data }) => [data.machine, data.unique, data.uniqueLink])).toEqual([
    [false, true, true],
    [false, false, true],
  ]);
});

test("what happens at once after the hand-over, by HEAD, or by a prefetcher, is marked with its reason", async () => {
  const { world, links, pixel, events, get } = await delivered();
  await using _ = world;
  await get(pixel);
  await get(links[0] as string);
  await advance(world, "1h");
  await get(links[1] as string, { method: "HEAD" });
  await get(pixel, { agent: "Mozilla/5.0" });
  await advance(world, "10s");
  expect((await events("email.opened")).map(({ data }) => data.machineReason)).toEqual(["too-soon", "apple-mail-privacy"]);
  expect((await events("email.clicked")).map(({ data }) => data.machineReason)).toEqual(["too-soon", "head-request"]);
  await advance(world, "1h");
  await get(pixel, { agent: "Mozilla/5.0" });
  await advance(world, "1s");
  await get(pixel);
  await advance(world, "10s");
  expect((await events("email.opened")).map(({ data }) => [data.machineReason, data.unique])).toEqual([
    ["too-soon", true],
    ["apple-mail-privacy", false],
    ["apple-mail-privacy", false],
    [undefined, true],
  ]);
});

test("repeated requests do not flood the events", async () => {
  const { world, pixel, links, events, get } = await delivered();
  await using _ = world;
  await advance(world, "1h");
  for (let i = 0; i < 50; i += 1) {
    expect((await get(pixel)).status).toBe(200);
    expect((await get(links[0] as string)).status).toBe(302);
  }
  await advance(world, "10s");
  expect([(await events("email.opened")).length, (await events("email.clicked")).length]).toEqual([1, 1]);
  for (let i = 0; i < 110; i += 1) {
    await advance(world, "61s");
    await get(pixel);
  }
  expect(await events("email.opened")).toHaveLength(100);
  expect((await events("email.opened")).filter(({ data }) => data.unique)).toHaveLength(1);
});

test("of 1,000 forged or altered addresses none is accepted, and nothing is recorded", async () => {
  const { world, id, pixel, links, events, get } = await delivered();
  await using _ = world;
  await advance(world, "1h");
  const real = [pixel, ...links];
  const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  let tried = 0;
  for (let i = 0; tried < 1000; i += 1) {
    const url = real[i % real.length] as string;
    const [place, token] = [url.slice(0, url.lastIndexOf("/") + 1), url.slice(url.lastIndexOf("/") + 1)];
    const at = i % token.length;
    const altered = token.slice(0, at) + alphabet[(alphabet.indexOf(token[at] as string) + 1 + (i % 31)) % 32] + token.slice(at + 1);
    if (altered === token) continue;
    tried += 1;
    const response = await get(place + altered);
    expect(response.status).toBe(404);
    expect(response.headers.get("location")).toBeNull();
  }
  // A pixel is no link, a link is no pixel, and what another installation signed is not ours.
  expect((await get(pixel.replace("/t/o/", "/t/c/"))).status).toBe(404);
  expect((await get((links[0] as string).replace("/t/c/", "/t/o/"))).status).toBe(404);
  await using other = await createWorld({ seed: 2 });
  const foreign = makeToken(other.app.deps.macs, "click", { emailId: id, linkId: 2 });
  for (const token of [foreign, "", "x", "%00", "A".repeat(5000), `${foreign}/..`])
    expect((await get(`${world.url}/t/c/${token}`)).status).toBe(404);
  await advance(world, "1m");
  expect([...(await events("email.opened")), ...(await events("email.clicked"))]).toEqual([]);
});

test("a link that others have too leads to its target after the person was erased, and records nothing", async () => {
  const { world, links, pixel, get } = await delivered();
  await using _ = world;
  await world.sdk.emails.send({ from: "a@acme.test", to: "grace@example.com", subject: "Hi", html: HTML, tracking: TRACKING });
  await world.settle();
  await advance(world, "1h");
  await get(links[0] as string);
  await advance(world, "10s");
  await world.sdk.people.erase("ada@example.com");
  for (const table of ["engagements", "heldRequests"] as const)
    expect(await world.app.deps.db.read.select().from(world.app.deps.db.read.t[table])).toEqual([]);
  expect((await get(links[0] as string)).headers.get("location")).toBe("https://acme.example/a?x=1&y=2");
  expect((await get(pixel)).status).toBe(200);
  await advance(world, "1m");
});

test("a target that names the person, or that only they have, is erased with them; those of others stay", async () => {
  const named = '<a href="https://acme.example/me?email=ada%40example.com">Me</a> <a href="https://acme.example/hello/Ada">Hello</a>';
  const own = `${named} <a href="https://acme.example/all">All</a>`;
  const { world, links, get } = await delivered({ html: own });
  await using _ = world;
  const shared = '<a href="https://acme.example/all">All</a>';
  await world.sdk.emails.send({ from: "a@acme.test", to: "grace@example.com", subject: "Hi", html: shared, tracking: TRACKING });
  await world.inbox.waitFor({ to: "grace@example.com" });
  await world.sdk.inbox.clear();
  await world.sdk.people.erase("ada@example.com");
  expect(await Promise.all(links.map(async (link) => (await get(link)).status))).toEqual([404, 404, 302]);
  const { read } = world.app.deps.db;
  expect(JSON.stringify(await read.select().from(read.t.trackedLinks))).not.toMatch(/hello\/Ada/);
  expect(JSON.stringify(await read.select().from(read.t.trackedLinks))).not.toMatch(/ada(?:@|%40)/);
  await world.sdk.emails.send({ from: "a@acme.test", to: "grace@example.com", subject: "Hi", html: own, tracking: TRACKING });
  const grace = await world.inbox.waitFor({ to: "grace@example.com" });
  const [again = ""] = [...(grace.html ?? "").matchAll(/http[^"]*\/t\/c\/[^"]*/g)].map(([url]) => url);
  expect((await get(again)).headers.get("location")).toBe("https://acme.example/me?email=ada%40example.com");
});

test("the same content stores its targets once, in each workspace", async () => {
  await using world = await createWorld();
  const mail = { from: "a@acme.test", subject: "Hi", html: HTML, tracking: TRACKING };
  await world.sdk.emails.send({ ...mail, to: ["a@example.com", "b@example.com", "c@example.com"] });
  const other = await world.createWorkspace("Other");
  await new Mailsvc({ apiKey: other.apiKey, baseUrl: world.url, fetch: world.fetch }).emails.send({ ...mail, to: "a@example.com" });
  await world.settle();
  const { read } = world.app.deps.db;
  expect(await read.select().from(read.t.trackedLinks)).toHaveLength(8);
});
