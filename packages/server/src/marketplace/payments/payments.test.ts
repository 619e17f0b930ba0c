import fc from "fast-check";
import { expect, test } from "vitest";
import { propertyRuns } from "../../../test/property-runs.ts";
import { ask } from "../../../test/scenario.ts";
import { secondWorkspace } from "../../../test/tenant.ts";
import { TickingClock } from "../../../test/ticking-clock.ts";
import { createWorld } from "../../testing.ts";

const good = { slug: "writer", name: "Writer", webhookUrl: "http://127.0.0.1:9/hook", permissions: [] };

test("a checkout lists nothing until it is confirmed; confirming again changes nothing", async () => {
  await using world = await createWorld();
  await world.sdk.listings.create(good);
  const payment = await world.sdk.listings.checkout("writer");
  expect(payment).toMatchObject({
    listingSlug: "writer",
    provider: "local",
    state: "PENDING",
    amount: 2900,
    currency: "usd",
    paidAt: null,
  });
  expect(payment.checkoutUrl).toBe(`${world.url}/api/v1/marketplace/payments/${payment.id}/confirm`);
  expect((await world.sdk.listings.get("writer")).state).toBe("DRAFT");
  expect(await world.sdk.payments.confirm(payment.id)).toMatchObject({ state: "PAID", paidAt: "2026-01-01T00:00:00.000Z" });
  const listed = await world.sdk.listings.get("writer");
  expect(listed).toMatchObject({ state: "LISTED", expiresAt: "2026-02-01T00:00:00.000Z" });
  await world.clock.advance("1d");
  expect(await world.sdk.payments.confirm(payment.id)).toMatchObject({ state: "PAID", paidAt: "2026-01-01T00:00:00.000Z" });
  expect(await world.sdk.listings.get("writer")).toEqual(listed);
});

test("of concurrent confirmations one counts", async () => {
  await using world = await createWorld();
  await world.sdk.listings.create(good);
  const { id } = await world.sdk.listings.checkout("writer");
  await Promise.all(Array.from({ length: 10 }, () => world.sdk.payments.confirm(id)));
  expect((await world.sdk.listings.get("writer")).expiresAt).toBe("2026-02-01T00:00:00.000Z");
});

test("an open checkout is returned again; after a day a new one starts", async () => {
  await using world = await createWorld();
  await world.sdk.listings.create(good);
  const first = await world.sdk.listings.checkout("writer");
  expect(await world.sdk.listings.checkout("writer")).toEqual(first);
  const opened = await Promise.all(Array.from({ length: 5 }, () => world.sdk.listings.checkout("writer")));
  expect(new Set(opened.map((p) => p.id))).toEqual(new Set([first.id]));
  await world.clock.advance("1d");
  expect((await world.sdk.payments.get(first.id)).state).toBe("EXPIRED");
  await expect(world.sdk.payments.confirm(first.id)).rejects.toMatchObject({ code: "invalid_state", status: 409 });
  const second = await world.sdk.listings.checkout("writer");
  expect(second.id).not.toBe(first.id);
  expect((await world.sdk.payments.list({ state: "PENDING" })).data.map((p) => p.id)).toEqual([second.id]);
  expect((await world.sdk.payments.list({ state: "EXPIRED" })).data.map((p) => p.id)).toEqual([first.id]);
  expect((await world.sdk.listings.get("writer")).state).toBe("DRAFT");
});

test("confirming a payment after the listing was cancelled lists nothing", async () => {
  await using world = await createWorld();
  await world.sdk.listings.create(good);
  await world.sdk.payments.confirm((await world.sdk.listings.checkout("writer")).id);
  const renewal = await world.sdk.listings.checkout("writer");
  await world.sdk.listings.cancel("writer");
  await expect(world.sdk.payments.confirm(renewal.id)).rejects.toMatchObject({ code: "invalid_state" });
  expect((await world.sdk.listings.get("writer")).state).toBe("CANCELLED");
});

test("payments of another workspace, and unknown ones, cannot be read or confirmed", async () => {
  await using world = await createWorld();
  await world.sdk.listings.create(good);
  const { id } = await world.sdk.listings.checkout("writer");
  const { apiKey: key } = await secondWorkspace(world);
  for (const payment of [id, "pay_nobody"]) {
    const at = `/api/v1/marketplace/payments/${payment}`;
    expect((await ask(world, { method: "GET", path: at, key })).status).toBe(404);
    expect((await ask(world, { path: `${at}/confirm`, key })).status).toBe(404);
  }
  expect((await world.sdk.payments.get(id)).state).toBe("PENDING");
});

test("without Stripe its webhook answers 404", async () => {
  await using world = await createWorld();
  const response = await ask(world, { path: "/api/v1/marketplace/payments/stripe/webhook", key: null, body: {} });
  expect([response.status, await response.json()]).toMatchObject([404, { error: { code: "not_found" } }]);
});

test("renewals keep the day of the first payment: 31 January, 28 February, 31 March, 30 April", async () => {
  await using world = await createWorld();
  await world.clock.advance("30d");
  await world.sdk.listings.create(good);
  const pay = async (): Promise<string | null> => {
    await world.sdk.payments.confirm((await world.sdk.listings.checkout("writer")).id);
    return (await world.sdk.listings.get("writer")).expiresAt;
  };
  expect([await pay(), await pay(), await pay()]).toEqual([
    "2026-02-28T00:00:00.000Z",
    "2026-03-31T00:00:00.000Z",
    "2026-04-30T00:00:00.000Z",
  ]);
  // A lapsed listing starts again on the day of its payment.
  await world.clock.advance("94d");
  expect(await pay()).toBe("2026-06-05T00:00:00.000Z");
});

test("a paid month adds at least 28 days, while time passes as it does in production", async () => {
  const run = async (gaps: number[]): Promise<void> => {
    await using world = await createWorld({ clock: TickingClock });
    await world.sdk.listings.create(good);
    let paidUntil = 0;
    for (const days of gaps) {
      const from = Math.max(paidUntil, world.clock.now());
      await world.sdk.payments.confirm((await world.sdk.listings.checkout("writer")).id);
      paidUntil = Date.parse((await world.sdk.listings.get("writer")).expiresAt ?? "");
      expect(paidUntil - from).toBeGreaterThanOrEqual(28 * 86_400_000);
      if (days > 0) await world.clock.advance(`${days}d`);
    }
  };
  const gaps = fc.array(fc.nat(70), { minLength: 2, maxLength: 6 });
  await fc.assert(fc.asyncProperty(gaps, run), { numRuns: propertyRuns(10), seed: 11, examples: [[[0, 0]], [[3, 3, 0]]] });
});
