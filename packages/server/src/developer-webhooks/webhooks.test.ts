import { createHmac } from "node:crypto";
import { webhooks } from "@mailsvc/sdk";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { asHeld, type PlainEvent } from "../../test/plain-event.ts";
import { receiver } from "../../test/receiver.ts";
import { scenarios } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { recordEvents } from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const at = "/api/v1/v1/webhooks";
const url = "https://shop.example.com/webhook";

scenarios("webhooks refuse", [
  { name: "a request without a key", path: at, key: null, body: { url }, status: 401, code: "unauthorized" },
  { name: "no URL", path: at, body: {}, status: 400, details: ["url required"] },
  { name: "a URL that is none", path: at, body: { url: "shop" }, status: 400, details: ["url invalid_url"] },
  { name: "a URL of a private network", path: at, body: { url: "https://10.0.0.1/" }, status: 400, details: ["url forbidden_url"] },
  { name: "an unknown type", path: at, body: { url, events: ["email.bounce"] }, status: 400, details: ["events[0] unknown_event_type"] },
  { name: "no events", path: at, body: { url, events: [] }, status: 400, details: ["events too_small"] },
  { name: "an unknown field", path: at, body: { url, event: "*" }, status: 400, details: ["event unknown_field"] },
  { name: "to get an unknown one", method: "GET", path: `${at}/whk_none`, status: 404, code: "not_found" },
  { name: "to delete an unknown one", method: "DELETE", path: `${at}/whk_none`, status: 404, code: "not_found" },
  { name: "to test an unknown one", method: "POST", path: `${at}/whk_none/test`, body: {}, status: 404, code: "not_found" },
]);

const mail = (to: string) => ({ from: "Acme <hello@acme.example>", to, subject: "Hello", text: "It works." });

const record = ({ app: { deps }, workspaceId }: TestWorld, n: number, event: Partial<PlainEvent> = {}): Promise<void> =>
  deps.db.tx((tx) =>
    recordEvents(
      tx,
      deps,
      asHeld(
        Array.from({ length: n }, (_, i) => ({
          workspaceId,
          type: "email.sent" as const,
          at: deps.clock.now(),
          emailId: `em_${i}`,
          data: { n: i },
          ...event,
        })),
      ),
    ),
  );

test("a webhook gets the events of its types, as the API shows them", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  const { sdk } = world;
  const webhook = await sdk.webhooks.create({ url: hook.url, events: ["email.delivered", "contact.*"], description: "shop" });
  expect(webhook).toMatchObject({ status: "enabled", events: ["email.delivered", "contact.*"], description: "shop", failingSince: null });
  expect(webhook.secret).toMatch(/^whsec_/);
  expect(await sdk.webhooks.get(webhook.id)).not.toHaveProperty("secret");
  await sdk.emails.send(mail("ada@example.com"));
  await sdk.contacts.create({ email: "grace@example.com" });
  await world.settle();
  expect(hook.types().sort()).toEqual(["contact.created", "email.delivered"]);
  for (const { event, headers } of hook.received) {
    expect(event).toEqual(await sdk.events.get(event.id));
    expect(headers["webhook-id"]).toBe(event.id);
    expect(headers["x-service-event-type"]).toBe(event.type);
  }
  const { data } = await sdk.webhooks.deliveries(webhook.id);
  expect(data.map((d) => [d.type, d.state, d.attempts]).sort()).toEqual([
    ["contact.created", "delivered", 1],
    ["email.delivered", "delivered", 1],
  ]);
  const contact = data.find((d) => d.type === "contact.created");
  expect(await sdk.webhooks.delivery(webhook.id, contact?.id ?? "")).toMatchObject({
    body: hook.received.find(({ event }) => event.type === "contact.created")?.body,
    log: [{ class: "ok", httpStatus: 200 }],
  });
  expect((await sdk.webhooks.deliveries(webhook.id, { type: "email.delivered" })).data).toHaveLength(1);
  expect((await sdk.webhooks.deliveries(webhook.id, { state: "dead" })).data).toEqual([]);
});

test("a webhook gets what happens after it was registered", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  await record(world, 3);
  await world.settle();
  await world.sdk.webhooks.create({ url: hook.url });
  await world.settle();
  expect(hook.received).toEqual([]);
  await record(world, 1);
  await world.settle();
  expect(hook.received.map(({ event }) => event.sequence)).toEqual([4]);
});

test("requests are signed as agent events are, and as Standard Webhooks say, during a rotation with both secrets", async () => {
  await using world = await createWorld({ now: new Date().toISOString() });
  await using hook = await receiver();
  const { sdk } = world;
  const { id, secret } = await sdk.webhooks.create({ url: hook.url });
  const deliver = async () => {
    await record(world, 1);
    await world.settle();
    const { body, headers } = hook.received.at(-1) as (typeof hook.received)[number];
    return { body, headers: headers as Record<string, string> };
  };
  const verifies = (key: string, { body, headers }: Awaited<ReturnType<typeof deliver>>): boolean => {
    try {
      new StandardWebhook(key).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  };
  const first = await deliver();
  expect(verifies(secret, first)).toBe(true);
  expect(verifies(secret, { ...first, body: `${first.body} ` })).toBe(false);
  expect(first.headers["x-service-signature"]).toBe(createHmac("sha256", secret).update(first.body).digest("hex"));
  const rotated = await sdk.webhooks.rotateSecret(id);
  expect(rotated.secretRotatesAt).toBe(new Date(world.clock.now() + 24 * 3_600_000).toISOString());
  const during = await deliver();
  expect([verifies(secret, during), verifies(rotated.secret, during)]).toEqual([true, true]);
  const hex = (key: string): string => createHmac("sha256", key).update(during.body).digest("hex");
  expect(during.headers["x-service-signature"]).toBe(hex(secret));
  expect(during.headers["x-service-signature-next"]).toBe(hex(rotated.secret));
});

test("after the overlap the new secret alone signs", async () => {
  await using world = await createWorld({ now: new Date(Date.now() - 23 * 3_600_000).toISOString() });
  await using hook = await receiver();
  const { id, secret } = await world.sdk.webhooks.create({ url: hook.url });
  const rotated = await world.sdk.webhooks.rotateSecret(id, { overlapHours: 23 });
  await world.clock.advance("23h");
  await record(world, 1);
  await world.settle();
  const { body, headers } = hook.received[0] as (typeof hook.received)[number];
  expect(() => new StandardWebhook(secret).verify(body, headers as Record<string, string>)).toThrow();
  expect(new StandardWebhook(rotated.secret).verify(body, headers as Record<string, string>)).toMatchObject({ type: "email.sent" });
  expect(await world.sdk.webhooks.get(id)).toMatchObject({ secretRotatesAt: null });
});

test("webhooks verify after the clock has moved by 30 days, with the SDK and with Standard Webhooks", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  const { secret } = await world.sdk.webhooks.create({ url: hook.url });
  await world.clock.advance("30d");
  await record(world, 1);
  await world.settle();
  const { body, headers } = hook.received[0] as (typeof hook.received)[number];
  const event = await webhooks.unwrap(body, headers, secret);
  // The product's time is in the event.
  expect(event).toMatchObject({ type: "email.sent", at: new Date(world.clock.now()).toISOString() });
  expect(new StandardWebhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ id: event.id });
});

test("a delivery that a receiver refused for its time says so in its hint", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  const { id, secret } = await world.sdk.webhooks.create({ url: hook.url });
  const hints: string[] = [];
  for (const minutes of [-10, 10]) {
    const now = (): number => Date.now() + minutes * 60_000;
    hook.react =
      ({ body, headers }) =>
      async (response) => {
        const error = await webhooks.unwrap(body, headers, secret, { now }).catch((reason: unknown) => reason);
        response.writeHead(401).end(String(error));
      };
    hints.push((await world.sdk.webhooks.test(id)).hint);
  }
  expect(hints).toEqual([expect.stringContaining("too_new"), expect.stringContaining("too_old")]);
});

test("an event that fails is tried eight times in 27.6 hours, as the documentation says", async () => {
  await using world = await createWorld();
  await using hook = await receiver(() => 500);
  const { id } = await world.sdk.webhooks.create({ url: hook.url });
  const began = world.clock.now();
  const times: number[] = [];
  hook.react = () => {
    times.push((world.clock.now() - began) / 1000);
    return 500;
  };
  await record(world, 1);
  await world.settle();
  await world.clock.advance("3d");
  const delays = [0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000];
  expect(times).toEqual(delays.map((_, i) => delays.slice(0, i + 1).reduce((a, b) => a + b)));
  expect((await world.sdk.webhooks.deliveries(id)).data).toMatchObject([{ state: "dead", attempts: 8, nextAttemptAt: null }]);
  expect(new Set(hook.received.map(({ body }) => body)).size).toBe(1);
  expect(await world.sdk.webhooks.get(id)).toMatchObject({
    status: "enabled",
    failingSince: new Date(began).toISOString(),
    lastError: { class: "http_status", httpStatus: 500 },
  });
});

test("an event that waits behind one that fails shows which one, and when that is tried again", async () => {
  await using world = await createWorld();
  await using hook = await receiver(() => 503);
  const { id } = await world.sdk.webhooks.create({ url: hook.url });
  const began = world.clock.now();
  await record(world, 3, { emailId: "em_1" });
  await world.settle();
  const states = async () => (await world.sdk.webhooks.deliveries(id)).data.reverse();
  const [first, ...behind] = await states();
  const later = new Date(began + 5000).toISOString();
  expect(first).toMatchObject({ attempts: 1, nextAttemptAt: later, waitsFor: null });
  expect(behind).toMatchObject([1, 2].map(() => ({ attempts: 0, nextAttemptAt: later, waitsFor: first?.id })));
  expect(await world.sdk.webhooks.delivery(id, behind[0]?.id ?? "")).toMatchObject({ nextAttemptAt: later, waitsFor: first?.id });
  // While nothing is sent there, no attempt is planned.
  await world.sdk.webhooks.pause(id);
  expect(await states()).toMatchObject([0, 1, 2].map(() => ({ state: "pending", nextAttemptAt: null, waitsFor: null })));
  await world.sdk.webhooks.resume(id);
  hook.react = () => 200;
  await world.clock.advance("5s");
  expect(await states()).toMatchObject([0, 1, 2].map(() => ({ state: "delivered", nextAttemptAt: null, waitsFor: null })));
});

test("what waits for its next attempt goes out as soon as one event arrives again", async () => {
  await using world = await createWorld();
  await using hook = await receiver(() => 503);
  const { id } = await world.sdk.webhooks.create({ url: hook.url });
  await record(world, 40);
  await world.settle();
  await world.clock.advance("1h");
  hook.react = () => 200;
  hook.received.length = 0;
  await record(world, 1, { emailId: "em_new" });
  await world.settle();
  await world.clock.advance("1s");
  expect(new Set(hook.received.map(({ event }) => event.id)).size).toBe(41);
  expect(await world.sdk.webhooks.get(id)).toMatchObject({ failingSince: null, lastError: null });
});

test("an event that alone is refused does not hold up the others of its stream", async () => {
  await using world = await createWorld();
  await using hook = await receiver(({ event }) => (event.type === "email.bounced" ? 500 : 200));
  await world.sdk.webhooks.create({ url: hook.url });
  await record(world, 1, { type: "email.bounced", emailId: "em_1" });
  await world.settle();
  // While it works for others.
  for (let i = 0; i < 10; i += 1) {
    await record(world, 1, { emailId: "em_2" });
    await world.clock.advance("1s");
  }
  await record(world, 1, { type: "email.opened", emailId: "em_1" });
  await world.settle();
  expect(hook.types()).toContain("email.opened");
  const refused = (): number => hook.types().filter((type) => type === "email.bounced").length;
  expect(refused()).toBe(2);
  await world.clock.advance("2d");
  expect(refused()).toBe(8);
});

test("the events of one email arrive in their order", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  await world.sdk.webhooks.create({ url: hook.url });
  for (let i = 0; i < 8; i += 1) await record(world, 100);
  await world.settle();
  expect(hook.received).toHaveLength(800);
  for (const some of Map.groupBy(hook.received, ({ event }) => event.emailId).values()) {
    const numbers = some.map(({ event }) => event.sequence);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  }
});

test("a webhook that fails for five days is disabled, with an event for the others and a mail", async () => {
  await using world = await createWorld();
  await using broken = await receiver(() => 500);
  await using other = await receiver();
  const { sdk } = world;
  const { id } = await sdk.webhooks.create({ url: broken.url, events: ["email.*"], alertEmail: "ops@acme.example" });
  await sdk.webhooks.create({ url: other.url, events: ["webhook.*"] });
  for (let day = 0; day < 6; day += 1) {
    await record(world, 1);
    await world.clock.advance("1d");
  }
  expect(await sdk.webhooks.get(id)).toMatchObject({ status: "disabled", failingSince: "2026-01-01T00:00:00.000Z" });
  expect(other.received.map(({ event }) => [event.type, event.data])).toEqual([
    ["webhook.disabled", { webhookId: id, failingSince: "2026-01-01T00:00:00.000Z" }],
  ]);
  const [alert] = await world.inbox.all();
  expect(alert).toMatchObject({ to: "ops@acme.example", subject: expect.stringContaining("Webhook disabled") });
  expect(await world.inbox.all()).toHaveLength(1);
  const attempts = broken.received.length;
  await record(world, 5);
  await world.clock.advance("2d");
  expect(broken.received).toHaveLength(attempts);
  // It is repaired: what it missed is sent on demand.
  broken.react = () => 200;
  broken.received.length = 0;
  await expect(sdk.webhooks.redeliverSince(id, { since: "2026-01-01T00:00:00Z" })).rejects.toMatchObject({ code: "invalid_state" });
  await sdk.webhooks.resume(id);
  // Two of eleven wait for their next attempt, which is now.
  expect(await sdk.webhooks.redeliverSince(id, { since: "2026-01-01T00:00:00Z" })).toMatchObject({ id, status: "enabled", count: 9 });
  await world.settle();
  expect(new Set(broken.received.map(({ event }) => event.id)).size).toBe(11);
});

test("410 disables a webhook at once", async () => {
  await using world = await createWorld();
  await using hook = await receiver(() => 410);
  const { id } = await world.sdk.webhooks.create({ url: hook.url, events: ["email.*"] });
  await record(world, 1);
  await world.settle();
  expect(await world.sdk.webhooks.get(id)).toMatchObject({ status: "disabled", lastError: { httpStatus: 410 } });
  await world.clock.advance("3d");
  expect(hook.received).toHaveLength(1);
});

test("a paused webhook gets nothing, and everything when it is resumed", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  const { sdk } = world;
  const { id } = await sdk.webhooks.create({ url: hook.url });
  expect(await sdk.webhooks.pause(id)).toMatchObject({ status: "paused" });
  await record(world, 3);
  await world.clock.advance("2d");
  expect(hook.received).toEqual([]);
  await sdk.webhooks.resume(id);
  await world.settle();
  expect(hook.received).toHaveLength(3);
});

test("a deleted webhook gets nothing any more, and nothing of it is left", async () => {
  await using world = await createWorld();
  await using hook = await receiver(() => 500);
  const { sdk, app } = world;
  const { id } = await sdk.webhooks.create({ url: hook.url });
  await record(world, 700);
  await world.settle();
  await sdk.webhooks.delete(id);
  hook.received.length = 0;
  await world.settle();
  await world.clock.advance("2d");
  expect(hook.received).toEqual([]);
  const { webhookDeliveries, webhookStreams, webhookAttempts, developerWebhooks } = app.deps.db.read.t;
  for (const table of [webhookDeliveries, webhookStreams, webhookAttempts, developerWebhooks])
    expect(await app.deps.db.read.$count(table)).toBe(0);
  await expect(sdk.webhooks.get(id)).rejects.toMatchObject({ code: "not_found" });
});

test("a delivery is sent again by hand, under the same id", async () => {
  await using world = await createWorld();
  await using hook = await receiver(() => 500);
  const { sdk } = world;
  const { id } = await sdk.webhooks.create({ url: hook.url });
  await record(world, 1);
  await world.settle();
  const [delivery] = (await sdk.webhooks.deliveries(id)).data;
  hook.react = () => 200;
  const again = await sdk.webhooks.redeliver(id, delivery?.id ?? "");
  expect(again).toMatchObject({ state: "delivered", attempts: 2, log: [{ class: "http_status" }, { class: "ok" }] });
  expect(new Set(hook.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  await world.clock.advance("3d");
  expect(hook.received).toHaveLength(2);
});

test("events since an instant are sent again: what failed, or all", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  const { sdk } = world;
  const { id } = await sdk.webhooks.create({ url: hook.url });
  await record(world, 1);
  await world.clock.advance("1h");
  const since = new Date(world.clock.now()).toISOString();
  await record(world, 600);
  await world.settle();
  hook.received.length = 0;
  await world.clock.advance("1s");
  expect(await sdk.webhooks.redeliverSince(id, { since })).toMatchObject({ count: 0 });
  await world.settle();
  expect(hook.received).toHaveLength(0);
  expect(await sdk.webhooks.redeliverSince(id, { since, all: true })).toMatchObject({ count: 600 });
  await world.settle();
  expect(hook.received).toHaveLength(600);
});

async function getSomeEvent({ sdk }: TestWorld) {
  await sdk.contacts.create({ email: "ada@example.com" });
  const [event] = (await sdk.events.list()).data;
  return event ?? {};
}

test("a test says what came of it, and changes nothing", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  const { sdk } = world;
  const event = await getSomeEvent(world);
  const { id } = await sdk.webhooks.create({ url: hook.url });
  expect(await sdk.webhooks.test(id)).toMatchObject({ ok: true, httpStatus: 200 });
  expect(hook.received[0]?.event).toMatchObject({ type: "webhook.test", data: { webhookId: id } });
  // With all fields that other events have.
  expect(Object.keys(hook.received[0]?.event ?? {}).sort()).toEqual(Object.keys(event).sort());
  hook.react = () => 302;
  expect(await sdk.webhooks.test(id)).toMatchObject({ ok: false, class: "redirect" });
  expect((await sdk.webhooks.deliveries(id)).data).toEqual([]);
  expect((await sdk.webhooks.get(id)).failingSince).toBeNull();
});

test("one event goes to every webhook that wants it, under one id", async () => {
  await using world = await createWorld();
  await using one = await receiver();
  await using other = await receiver(() => 500);
  await world.sdk.webhooks.create({ url: one.url });
  await world.sdk.webhooks.create({ url: other.url });
  await record(world, 5);
  await world.settle();
  expect(one.received).toHaveLength(5);
  const ids = (hook: typeof one) => new Set(hook.received.map(({ headers }) => headers["webhook-id"]));
  expect(ids(other)).toEqual(ids(one));
});

test("no event and no webhook of one workspace is visible in another", async () => {
  await using world = await createWorld();
  await using mine = await receiver();
  await using theirs = await receiver();
  const other = await secondWorkspace(world);
  const { id } = await world.sdk.webhooks.create({ url: mine.url });
  await other.sdk.webhooks.create({ url: theirs.url });
  await world.sdk.emails.send(mail("canary@example.com"));
  await world.settle();
  expect(mine.received.length).toBeGreaterThan(0);
  expect(theirs.received).toEqual([]);
  const [delivery] = (await world.sdk.webhooks.deliveries(id)).data;
  const refused = { code: "not_found" };
  const { webhooks } = other.sdk;
  expect((await webhooks.list()).data).toHaveLength(1);
  await expect(webhooks.get(id)).rejects.toMatchObject(refused);
  await expect(webhooks.update(id, { url })).rejects.toMatchObject(refused);
  await expect(webhooks.rotateSecret(id)).rejects.toMatchObject(refused);
  await expect(webhooks.pause(id)).rejects.toMatchObject(refused);
  await expect(webhooks.test(id)).rejects.toMatchObject(refused);
  await expect(webhooks.deliveries(id)).rejects.toMatchObject(refused);
  await expect(webhooks.delivery(id, delivery?.id ?? "")).rejects.toMatchObject(refused);
  await expect(webhooks.redeliver(id, delivery?.id ?? "")).rejects.toMatchObject(refused);
  await expect(webhooks.delete(id)).rejects.toMatchObject(refused);
});

test("webhooks need their own permissions, and there are twenty of them at most", async () => {
  await using world = await createWorld();
  const reader = world.sdk.withOptions({ apiKey: await keyFor(world, "webhooks:read", "events:read"), fetch: world.fetch });
  await expect(reader.webhooks.create({ url })).rejects.toMatchObject({ code: "forbidden" });
  for (let i = 0; i < 20; i += 1) await world.sdk.webhooks.create({ url });
  await expect(world.sdk.webhooks.create({ url })).rejects.toMatchObject({ code: "limit_reached" });
  expect(await reader.webhooks.list().toArray()).toHaveLength(20);
});
