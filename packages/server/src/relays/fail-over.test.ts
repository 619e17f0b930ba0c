import { createServer } from "node:net";
import { expect, test } from "vitest";
import { relayWorld, waitUntil } from "../../test/relays.ts";
import type { Script } from "../../test/smtp-peer.ts";

const viaA = async (t: Awaited<ReturnType<typeof relayWorld>>) => t.operator.workspaces.update(t.world.workspaceId, { relay: "a" });

test("mail goes to the first relay of its route while that is in service", async () => {
  await using t = await relayWorld();
  await viaA(t);
  const id = await t.send("ada@example.com");
  await t.world.settle();
  expect([t.a.messages, t.b.messages]).toEqual([1, 0]);
  expect(await t.world.sdk.emails.get(id)).toMatchObject({ status: "sent", relay: "a", attempts: 1 });
});

test("when a relay refuses connections, the next one takes over at once, and gets the following mail without an attempt at the first", async () => {
  await using t = await relayWorld();
  await viaA(t);
  await t.a.close();
  const first = await t.send("ada@example.com");
  await t.world.settle();
  const second = await t.send("bob@example.com");
  await t.world.settle();
  expect(t.b.recipients).toEqual(["ada@example.com", "bob@example.com"]);
  expect(await t.world.sdk.emails.get(first)).toMatchObject({ status: "sent", relay: "b", attempts: 1, inDoubt: false });
  expect(await t.world.sdk.emails.get(second)).toMatchObject({ status: "sent", relay: "b", attempts: 1 });
  expect(await t.operator.relays.get("a")).toMatchObject({ state: "down", reason: expect.stringContaining("ECONNREFUSED") });
});

test("the default relay and the one that takes over from it are named by the mail, its recipients, its events and why", async () => {
  await using t = await relayWorld();
  const { sdk } = t.world;
  await t.operator.relays.add({ name: "default", host: "127.0.0.1", port: t.a.port, fallback: ["b"] });
  const relaysOf = async (id: string) =>
    Object.fromEntries((await sdk.emails.get(id)).events.map(({ type, data }) => [type, "relay" in data ? data.relay : null]));
  const plain = await t.send("ada@example.com");
  await t.world.settle();
  expect(await sdk.emails.get(plain)).toMatchObject({ status: "sent", relay: "default", recipients: [{ relay: "default" }] });
  expect(await relaysOf(plain)).toEqual({ "email.queued": null, "email.sent": "default" });
  await t.a.close();
  const moved = await t.send("bob@example.com");
  await t.world.settle();
  expect((await sdk.events.list({ email: moved, type: "email.sent" })).data[0]?.data).toMatchObject({ relay: "b" });
  expect(await relaysOf(moved)).toEqual({ "email.queued": null, "email.deferred": "default", "email.sent": "b" });
  const told = (await sdk.explanations.get(moved)).timeline.map(({ what }) => what);
  expect(told).toContain("The relay b took it in attempt 1");
  expect(told.filter((what) => what.startsWith("Attempt 1 was not accepted at the relay default: "))).toHaveLength(1);
});

test.each([
  ["the greeting", { greeting: { reply: "421 4.3.2 too many connections" } }],
  ["MAIL", { MAIL: { reply: "421 4.3.2 shutting down" } }],
  ["the message", { dot: { reply: "421 4.3.2 shutting down" } }],
])("when a relay answers 421 to %s, the next one takes over at once", async (_, script) => {
  await using t = await relayWorld({ a: script });
  await viaA(t);
  const id = await t.send("ada@example.com");
  await t.world.settle();
  expect(t.b.recipients).toEqual(["ada@example.com"]);
  expect(await t.world.sdk.emails.get(id)).toMatchObject({ status: "sent", relay: "b", inDoubt: false });
});

test("a refusal of one recipient for now is no reason for another relay: the mail waits for its next attempt at the same one", async () => {
  await using t = await relayWorld({ a: { RCPT: { reply: "451 4.7.1 greylisted" } } });
  await viaA(t);
  const id = await t.send("ada@example.com");
  await t.world.settle();
  expect(t.b.messages).toBe(0);
  expect(await t.world.sdk.emails.get(id)).toMatchObject({ status: "deferred", relay: "a", attempts: 1 });
  // It has answered; nobody has tried the other one yet.
  expect(await t.operator.relays.get("a")).toMatchObject({ state: "up", answeredAt: expect.any(String) });
  expect(await t.operator.relays.get("b")).toMatchObject({ state: "up", answeredAt: null });
});

test("a mail that may have arrived stays with the relay that had it, also while that is out of service, and is listed as in doubt", async () => {
  await using t = await relayWorld({
    a: [{ dot: { hangUp: "" } }, { greeting: { reply: "421 4.3.2 no" } }, { greeting: { reply: "421 4.3.2 no" } }, {}],
  });
  await viaA(t);
  const id = await t.send("ada@example.com");
  await t.world.settle();
  expect(await t.world.sdk.emails.get(id)).toMatchObject({ status: "deferred", relay: "a", inDoubt: true });
  const other = await t.send("bob@example.com");
  await t.world.settle();
  await t.world.clock.advance("2d");
  expect(t.b.recipients).toEqual(["bob@example.com"]);
  expect(t.a.recipients).toEqual(["ada@example.com", "ada@example.com"]);
  expect(await t.world.sdk.emails.get(id)).toMatchObject({ status: "sent", relay: "a", inDoubt: true });
  expect(await t.world.sdk.emails.get(other)).toMatchObject({ status: "sent", relay: "b", inDoubt: false });
});

test("while no relay of the route is in service, mail is tried at the first one with the usual waits", async () => {
  await using t = await relayWorld();
  await viaA(t);
  await Promise.all([t.a.close(), t.b.close()]);
  const id = await t.send("ada@example.com");
  await t.world.settle();
  const email = await t.world.sdk.emails.get(id);
  // The first attempt hands over to b, which then is down as well.
  expect(email).toMatchObject({ status: "deferred", attempts: 1, inDoubt: false });
  expect(Date.parse(email.nextAttemptAt ?? "")).toBeGreaterThan(t.world.clock.now() + 60_000);
});

test("mail survives thirty hours in which all relays of its route let us in and then refuse", async () => {
  const a: Script = { MAIL: { reply: "421 4.3.2 outage" } };
  const b: Script = { MAIL: { reply: "421 4.3.2 outage" } };
  await using t = await relayWorld({ a, b });
  await viaA(t);
  const id = await t.send("ada@example.com");
  for (let hour = 0; hour < 30; hour += 1) {
    await t.world.clock.advance("1h");
    // Each finds the relays up again, as their checks succeed.
    await Promise.all(["a", "b"].map((name) => t.operator.relays.test(name)));
  }
  expect(await t.world.sdk.emails.get(id)).toMatchObject({ status: "deferred" });
  a.MAIL = b.MAIL = { reply: "250 2.1.0 ok" };
  await t.world.clock.advance("18h");
  expect(await t.world.sdk.emails.get(id)).toMatchObject({ status: "sent" });
});

test("a relay that is down is checked while no mail is sent, and takes its mail again once it can be reached", async () => {
  await using t = await relayWorld();
  await viaA(t);
  const { port } = t.a;
  await t.a.close();
  await t.send("ada@example.com");
  await t.world.settle();
  const greeted = createServer((socket) => {
    socket.on("error", () => {});
    socket.write("220 back ESMTP\r\n");
    socket.on("data", (chunk) => socket.write(String(chunk).startsWith("QUIT") ? "221 bye\r\n" : "250 ok\r\n"));
  });
  await new Promise<void>((done) => greeted.listen(port, "127.0.0.1", done));
  try {
    await t.world.clock.advance("1m");
    await waitUntil(async () => (await t.operator.relays.get("a")).state === "up");
    expect(t.b.recipients).toEqual(["ada@example.com"]);
  } finally {
    await new Promise((done) => greeted.close(done));
  }
});

test("a relay that hangs keeps the mail it has, and takes no slot of another one: other mail leaves meanwhile", async () => {
  await using t = await relayWorld({ a: { RCPT: { silence: true } } });
  const direct = await t.world.sdk.senders.create({ email: "direct@acme.test" });
  await viaA(t);
  await t.world.sdk.senders.update(direct.id, { relay: "b" });
  for (let n = 0; n < 20; n += 1) await t.send(`hangs${n}@example.com`);
  await waitUntil(() => t.a.silent === 2);
  const id = await t.send("bob@example.com", { from: "direct@acme.test" });
  await waitUntil(async () => (await t.world.sdk.emails.get(id)).status === "sent");
  expect(t.b.recipients).toContain("bob@example.com");
  // Mail waiting for the hanging relay goes to the next one after ten seconds without an answer.
  await waitUntil(() => t.b.messages >= 19);
  expect(t.a.messages).toBe(0);
  // The two under way could not have arrived: their connections were cut before the message.
  t.a.cutSilent();
  await t.world.settle();
  expect(t.b.recipients.filter((to) => to.startsWith("hangs")).length).toBe(new Set(t.b.recipients).size - 1);
  expect(new Set(t.b.recipients).size).toBe(21);
});

test("a relay that hangs after the message keeps the mail: it is in doubt, and no other relay gets it", async () => {
  await using t = await relayWorld({ a: [{ dot: { silence: true } }, {}] });
  await viaA(t);
  const id = await t.send("ada@example.com");
  await waitUntil(() => t.a.silent === 1);
  t.a.cutSilent();
  await t.world.settle();
  expect(await t.world.sdk.emails.get(id)).toMatchObject({ status: "deferred", relay: "a", inDoubt: true });
  await t.world.clock.advance("1h");
  expect(await t.world.sdk.emails.get(id)).toMatchObject({ status: "sent", relay: "a", inDoubt: true });
  expect([t.a.messages, t.b.messages]).toEqual([2, 0]);
});

test("each relay has a circuit breaker of its own: one that refuses nearly everybody is paused, and the next one takes over", async () => {
  await using t = await relayWorld({ a: { RCPT: { reply: "550 relay not permitted" } } });
  await viaA(t);
  const ids: string[] = [];
  for (let n = 0; n < 30; n += 1) ids.push(await t.send(`user${n}@example.com`));
  await t.world.settle();
  expect(await t.operator.relays.get("a")).toMatchObject({ state: "paused", reason: expect.stringContaining("relay not permitted") });
  expect(await t.operator.relays.get("b")).toMatchObject({ state: "up", reason: null });
  const emails = await Promise.all(ids.map((id) => t.world.sdk.emails.get(id)));
  expect(emails.filter(({ status }) => status === "bounced").length).toBeLessThanOrEqual(12);
  expect(emails.filter(({ status, relay }) => status === "sent" && relay === "b")).toHaveLength(t.b.messages);
  expect(emails.every(({ status }) => status === "sent" || status === "bounced")).toBe(true);
});
