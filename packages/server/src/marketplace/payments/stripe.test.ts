import type { Payment } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { activateAgent, agentPath, getAgentKey, SCOPES, startReceiver } from "../../../test/marketplace.ts";
import { ask } from "../../../test/scenario.ts";
import { type StripeStandIn, stripeStandIn } from "../../../test/stripe-stand-in.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { localPayments } from "./provider.ts";
import { stripePayments } from "./stripe.ts";

const START = Date.parse("2026-01-01T00:00:00.000Z");
const DAY = 86_400;
const WEBHOOK = "/api/v1/marketplace/payments/stripe/webhook";

interface Setting extends AsyncDisposable {
  readonly stripe: StripeStandIn;
  readonly world: TestWorld;
  readonly payment: Payment;
}

/** A world with payments through the stand-in, and a listing with an open checkout. */
const setting = async (webhookUrl = "http://127.0.0.1:9/hook"): Promise<Setting> => {
  const stripe = await stripeStandIn(() => START);
  const world = await createWorld({ payments: stripePayments({ ...stripe, baseUrl: () => "https://mail.example.com" }) });
  await world.sdk.listings.create({ slug: "writer", name: "Writer", webhookUrl, permissions: SCOPES });
  const payment = await world.sdk.listings.checkout("writer");
  return {
    stripe,
    world,
    payment,
    [Symbol.asyncDispose]: async () => {
      await world.dispose();
      await stripe[Symbol.asyncDispose]();
    },
  };
};

let events = 0;
const event = (type: string, object: object, more: object = {}) => {
  events += 1;
  return { id: `evt_${events}`, object: "event", type, created: START / 1000, data: { object }, ...more };
};

const session = (more: object = {}) => ({
  id: "cs_1",
  object: "checkout.session",
  payment_status: "paid",
  amount_total: 2900,
  currency: "usd",
  subscription: "sub_1",
  ...more,
});
const paid = (more: object = {}) => event("checkout.session.completed", session(more));
const invoice = (end: number, more: object = {}) =>
  event("invoice.paid", {
    object: "invoice",
    parent: { subscription_details: { subscription: "sub_1" } },
    lines: { data: [{ period: { end } }] },
    ...more,
  });
const subscription = (type: string, status: string) =>
  event(`customer.subscription.${type}`, { id: "sub_1", object: "subscription", status });

const tell = async ({ stripe, world }: Setting, what: object, options: Parameters<StripeStandIn["sign"]>[1] = {}): Promise<Response> =>
  ask(world, { path: WEBHOOK, key: null, ...stripe.sign(what, options) });

const told = async (s: Setting, ...news: object[]): Promise<void> => {
  for (const what of news) expect((await tell(s, what)).status).toBe(200);
};

const stateOf = async ({ world }: Setting): Promise<string> => (await world.sdk.listings.get("writer")).state;

test("a checkout is a subscription of 29 a month, bound to the payment", async () => {
  await using s = await setting();
  expect(s.payment).toMatchObject({
    provider: "stripe",
    sessionId: "cs_1",
    state: "PENDING",
    checkoutUrl: "https://checkout.stripe.test/cs_1",
    expiresAt: "2026-01-02T00:00:00.000Z",
  });
  expect(s.stripe.calls).toHaveLength(1);
  expect(s.stripe.calls[0]).toMatchObject({
    call: "POST /v1/checkout/sessions",
    idempotencyKey: s.payment.id,
    fields: {
      mode: "subscription",
      client_reference_id: s.payment.id,
      "metadata[paymentId]": s.payment.id,
      "line_items[0][price_data][unit_amount]": "2900",
      "line_items[0][price_data][currency]": "usd",
      "line_items[0][price_data][recurring][interval]": "month",
      "line_items[0][quantity]": "1",
    },
  });
  await expect(s.world.sdk.payments.confirm(s.payment.id)).rejects.toMatchObject({ code: "invalid_state" });
});

test("a paid listing is in the catalog, and no checkout can be opened while it renews", async () => {
  await using s = await setting();
  await told(s, paid());
  expect(await stateOf(s)).toBe("LISTED");
  expect((await s.world.sdk.payments.get(s.payment.id)).state).toBe("PAID");
  await expect(s.world.sdk.listings.checkout("writer")).rejects.toMatchObject({ code: "invalid_state" });
  // A month, and three days for Stripe to settle the next invoice.
  expect((await s.world.sdk.listings.get("writer")).expiresAt).toBe("2026-02-04T00:00:00.000Z");
  await told(s, invoice(START / 1000 + 59 * DAY));
  expect((await s.world.sdk.listings.get("writer")).expiresAt).toBe("2026-03-04T00:00:00.000Z");
});

describe("events of Stripe and the resulting state of the listing", () => {
  const unpaid = () => paid({ payment_status: "unpaid" });
  const rows: [what: string, news: () => object[], state: string, payment: string][] = [
    ["completed, but not paid", () => [unpaid()], "DRAFT", "PENDING"],
    ["completed without anything to pay", () => [paid({ payment_status: "no_payment_required" })], "DRAFT", "PENDING"],
    ["completed, paid later", () => [unpaid(), event("checkout.session.async_payment_succeeded", session())], "LISTED", "PAID"],
    [
      "completed, and the payment failed",
      () => [unpaid(), event("checkout.session.async_payment_failed", session({ payment_status: "unpaid" }))],
      "DRAFT",
      "FAILED",
    ],
    ["the checkout expired", () => [event("checkout.session.expired", session({ payment_status: "unpaid" }))], "DRAFT", "EXPIRED"],
    [
      "paid after the checkout expired",
      () => [event("checkout.session.expired", session({ payment_status: "unpaid" })), paid()],
      "DRAFT",
      "EXPIRED",
    ],
    [
      "expired and failed, told after paid",
      () => [paid(), event("checkout.session.expired", session()), event("checkout.session.async_payment_failed", session())],
      "LISTED",
      "PAID",
    ],
    ["another amount", () => [paid({ amount_total: 100 })], "DRAFT", "PENDING"],
    ["no amount", () => [paid({ amount_total: null })], "DRAFT", "PENDING"],
    ["another currency", () => [paid({ currency: "jpy" })], "DRAFT", "PENDING"],
    ["another checkout", () => [paid({ id: "cs_other" })], "DRAFT", "PENDING"],
    ["the subscription ended", () => [paid(), subscription("deleted", "canceled")], "EXPIRED", "PAID"],
    ["the subscription ended, told before paid", () => [subscription("deleted", "canceled"), paid()], "DRAFT", "PENDING"],
    ["the card failed for good", () => [paid(), subscription("updated", "unpaid")], "EXPIRED", "PAID"],
    ["the card failed for good, told before paid", () => [subscription("updated", "unpaid"), paid()], "DRAFT", "PENDING"],
    ["the card failed once", () => [paid(), subscription("updated", "past_due")], "LISTED", "PAID"],
    [
      "an invoice of nobody",
      () => [invoice(START / 1000 + DAY, { parent: { subscription_details: { subscription: "sub_x" } } })],
      "DRAFT",
      "PENDING",
    ],
    [
      "an invoice of an older API",
      () => [paid(), invoice(START / 1000 + 59 * DAY, { parent: null, subscription: { id: "sub_1" } })],
      "LISTED",
      "PAID",
    ],
    ["an invoice told before paid", () => [invoice(START / 1000 + 31 * DAY), paid()], "LISTED", "PAID"],
    [
      "an invoice told after the end",
      () => [paid(), subscription("deleted", "canceled"), invoice(START / 1000 + 59 * DAY)],
      "EXPIRED",
      "PAID",
    ],
    ["something else", () => [event("charge.refunded", { id: "ch_1" })], "DRAFT", "PENDING"],
  ];
  test.each(rows)("%s", async (_what, news, state, payment) => {
    await using s = await setting();
    await told(s, ...news());
    expect([await stateOf(s), (await s.world.sdk.payments.get(s.payment.id)).state]).toEqual([state, payment]);
  });
});

test("repeated events change nothing, in sequence or concurrently", async () => {
  await using s = await setting();
  const news = paid();
  await Promise.all(Array.from({ length: 8 }, () => told(s, news)));
  await told(s, news);
  const listed = await s.world.sdk.listings.get("writer");
  expect(listed.state).toBe("LISTED");
  await s.world.sdk.listings.cancel("writer");
  await told(s, news, event("checkout.session.async_payment_succeeded", session()));
  expect(await stateOf(s)).toBe("CANCELLED");
});

describe("a signed but invalid event is refused with the name of the field:", () => {
  const rows: [what: string, news: () => object, path: string][] = [
    ["an id of 256 characters", () => paid({ id: "c".repeat(256) }), "data.object.id"],
    ["an event's id of half a megabyte", () => ({ ...paid(), id: "e".repeat(500_000) }), "id"],
    ["an event without a name", () => ({ ...paid(), id: "" }), "id"],
    ["U+0000 in a type", () => event("checkout\0", {}), "type"],
    ["U+0000 in a subscription", () => subscription("deleted\0", "canceled"), "type"],
    ["a time beyond all time", () => ({ ...paid(), created: Number.MAX_SAFE_INTEGER }), "created"],
    ["a time before all time", () => ({ ...paid(), created: -1 }), "created"],
    ["a month that ends beyond all time", () => invoice(Number.MAX_SAFE_INTEGER), "data.object.lines.data.0.period.end"],
    ["a session that is none", () => event("checkout.session.completed", null as unknown as object), "data.object"],
    ["nothing", () => ({}), "id"],
  ];
  test.each(rows)("%s", async (_what, news, path) => {
    await using s = await setting();
    const response = await tell(s, news());
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: "validation_error", details: [{ path, code: "invalid_event" }] } },
    ]);
    expect(await stateOf(s)).toBe("DRAFT");
  });
});

describe("an event that cannot be verified is refused and changes nothing", () => {
  const now = () => Math.floor(Date.now() / 1000);
  const rows: [what: string, send: (s: Setting) => Promise<Response>, status: number, code: string][] = [
    ["a signature by another secret", (s) => tell(s, paid(), { secret: "whsec_wrong" }), 401, "invalid_signature"],
    ["a signature of six minutes ago", (s) => tell(s, paid(), { at: now() - 360 }), 401, "invalid_signature"],
    ["no signature", ({ world }) => ask(world, { path: WEBHOOK, key: null, body: paid() }), 401, "invalid_signature"],
    [
      "a signature that is none",
      ({ world }) => ask(world, { path: WEBHOOK, key: null, body: paid(), headers: { "stripe-signature": "t=1,v1=00" } }),
      401,
      "invalid_signature",
    ],
    [
      "an empty signature",
      ({ world }) => ask(world, { path: WEBHOOK, key: null, body: paid(), headers: { "stripe-signature": "" } }),
      401,
      "invalid_signature",
    ],
    ["an owner's key in place of a signature", ({ world }) => ask(world, { path: WEBHOOK, body: paid() }), 401, "invalid_signature"],
    [
      "a body that was changed on the way",
      ({ stripe, world }) => {
        const { body, headers } = stripe.sign(paid());
        return ask(world, { path: WEBHOOK, key: null, body: body.replace("2900", "2901"), headers });
      },
      401,
      "invalid_signature",
    ],
    [
      "a body with one more space",
      ({ stripe, world }) => {
        const { body, headers } = stripe.sign(paid());
        return ask(world, { path: WEBHOOK, key: null, body: `${body} `, headers });
      },
      401,
      "invalid_signature",
    ],
    [
      "no body",
      ({ world }) => ask(world, { path: WEBHOOK, key: null, body: "", headers: { "stripe-signature": "t=1,v1=00" } }),
      401,
      "invalid_signature",
    ],
    ["a signed body of more than a megabyte", (s) => tell(s, paid({ padding: "x".repeat(1024 * 1024) })), 413, "payload_too_large"],
    [
      "a hundred wrong signatures, and none that fits",
      ({ stripe, world }) => {
        const { body, headers } = stripe.sign(paid());
        const [at, right = ""] = String(headers["stripe-signature"]).split(",v1=");
        const wrong = Array.from({ length: 100 }, (_, i) => `v1=${i.toString(16).padStart(right.length, "0")}`).join(",");
        return ask(world, { path: WEBHOOK, key: null, body, headers: { "stripe-signature": `${at},v0=${right},${wrong}` } });
      },
      401,
      "invalid_signature",
    ],
    [
      "a right signature moved to another moment",
      ({ stripe, world }) => {
        const { body, headers } = stripe.sign(paid(), { at: now() - 3600 });
        const moved = String(headers["stripe-signature"]).replace(/t=\d+/, `t=${now()}`);
        return ask(world, { path: WEBHOOK, key: null, body, headers: { "stripe-signature": moved } });
      },
      401,
      "invalid_signature",
    ],
    ["a signed body that is no event", (s) => tell(s, { hello: "world" }), 400, "validation_error"],
    ["a signed list", (s) => tell(s, []), 400, "validation_error"],
    [
      "a signed session without an id",
      (s) => tell(s, event("checkout.session.completed", { payment_status: "paid" })),
      400,
      "validation_error",
    ],
    [
      "a signed event without an object",
      (s) => tell(s, { id: "evt_x", type: "invoice.paid", created: 1, data: {} }),
      400,
      "validation_error",
    ],
  ];
  test.each(rows)("%s", async (_what, send, status, code) => {
    await using s = await setting();
    const response = await send(s);
    const text = await response.text();
    expect([response.status, JSON.parse(text)]).toMatchObject([status, { error: { code } }]);
    expect(text).not.toContain(s.stripe.webhookSecret);
    expect([await stateOf(s), (await s.world.sdk.payments.get(s.payment.id)).state]).toEqual(["DRAFT", "PENDING"]);
  });
});

test("cancelling stops the subscription and expires open checkouts, even when Stripe fails at first", async () => {
  await using s = await setting();
  await told(s, paid());
  s.stripe.failing = 500;
  await s.world.sdk.listings.cancel("writer");
  expect(await stateOf(s)).toBe("CANCELLED");
  await s.world.settle();
  s.stripe.failing = null;
  await s.world.clock.advance("1h");
  expect(s.stripe.calls.at(-1)?.call).toBe("DELETE /v1/subscriptions/sub_1");
  expect((await s.world.sdk.jobs.list({ state: "dead" })).data).toEqual([]);
});

test("the subscription of a checkout paid after its listing was cancelled is stopped", async () => {
  await using s = await setting();
  await told(s, paid());
  await s.world.sdk.listings.cancel("writer");
  const second = await s.world.sdk.listings.checkout("writer");
  await told(s, paid({ id: second.sessionId, subscription: "sub_2" }));
  await s.world.sdk.listings.cancel("writer");
  const third = await s.world.sdk.listings.checkout("writer");
  await told(s, event("checkout.session.expired", session({ id: third.sessionId, payment_status: "unpaid" })));
  await told(s, paid({ id: third.sessionId, subscription: "sub_3" }));
  await s.world.settle();
  expect(s.stripe.calls.map((c) => c.call).filter((c) => c.startsWith("DELETE"))).toEqual([
    "DELETE /v1/subscriptions/sub_1",
    "DELETE /v1/subscriptions/sub_2",
    "DELETE /v1/subscriptions/sub_3",
  ]);
});

test("when Stripe fails, nothing is stored, and its message is not passed on", async () => {
  await using stripe = await stripeStandIn(() => START);
  await using world = await createWorld({ payments: stripePayments({ ...stripe, baseUrl: () => "" }) });
  await world.sdk.listings.create({ slug: "writer", name: "Writer", webhookUrl: "http://127.0.0.1:9/", permissions: [] });
  stripe.failing = 402;
  const response = await ask(world, { path: "/api/v1/marketplace/listings/writer/checkout" });
  const text = await response.text();
  expect([response.status, JSON.parse(text)]).toMatchObject([502, { error: { code: "payment_provider_error" } }]);
  expect(text).not.toContain(stripe.key);
  expect((await world.sdk.payments.list()).pagination.total).toBe(0);
});

test("ending what has already ended at Stripe succeeds", async () => {
  await using stripe = await stripeStandIn(() => START);
  const provider = stripePayments({ ...stripe, baseUrl: () => "" });
  await expect(provider.cancelSubscription("sub_gone")).resolves.toBeUndefined();
  await expect(provider.expireCheckout("cs_unknown")).resolves.toBeUndefined();
  stripe.failing = 500;
  await expect(provider.cancelSubscription("sub_1")).rejects.toThrow("Stripe rejected the request");
});

test("the return pages after a checkout say what happens next, in production too", async () => {
  await using stripe = await stripeStandIn(() => START);
  await using world = await createWorld({ dev: false, payments: stripePayments({ ...stripe, baseUrl: () => world.url }) });
  await world.sdk.listings.create({ slug: "writer", name: "Writer", webhookUrl: "https://agent.example.com/", permissions: [] });
  await world.sdk.listings.checkout("writer");
  const { success_url = "", cancel_url = "" } = stripe.calls[0]?.fields ?? {};
  for (const [url, words] of [
    [success_url, "as soon as the payment is confirmed"],
    [cancel_url, "You have not been charged"],
  ] as const) {
    const response = await world.fetch(url);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(await response.text()).toContain(words);
  }
});

const stopped = async ({ stripe, world }: Setting): Promise<string[]> => {
  await world.settle();
  return stripe.calls.map((c) => c.call).filter((c) => c.startsWith("DELETE"));
};

test("while the money is on its way, no other checkout can be opened", async () => {
  await using s = await setting();
  await told(s, paid({ payment_status: "unpaid" }));
  await s.world.clock.advance("5d");
  expect(await s.world.sdk.listings.checkout("writer")).toMatchObject({ id: s.payment.id, state: "PENDING" });
  await told(s, event("checkout.session.async_payment_succeeded", session()));
  expect([await stateOf(s), (await s.world.sdk.payments.get(s.payment.id)).state]).toEqual(["LISTED", "PAID"]);
  expect(s.stripe.calls).toHaveLength(1);
});

test("of two paid checkouts one lists, and the subscription of the other is stopped", async () => {
  await using s = await setting();
  // The first one was completed in its last second and reported late.
  await s.world.clock.advance("1d");
  const second = await s.world.sdk.listings.checkout("writer");
  expect(second.id).not.toBe(s.payment.id);
  await told(s, paid());
  expect((await s.world.sdk.payments.get(second.id)).state).toBe("EXPIRED");
  await told(s, paid({ id: second.sessionId, subscription: "sub_2" }));
  expect(await stopped(s)).toEqual(["DELETE /v1/subscriptions/sub_2"]);
  expect(s.stripe.calls.map((c) => c.call)).toContain(`POST /v1/checkout/sessions/${second.sessionId}/expire`);
  expect(await stateOf(s)).toBe("LISTED");
  await s.world.sdk.listings.cancel("writer");
  expect(await stopped(s)).toContain("DELETE /v1/subscriptions/sub_1");
});

test("an unpaid subscription that Stripe gave up is cancelled", async () => {
  await using s = await setting();
  await told(s, paid(), subscription("updated", "unpaid"));
  expect(await stopped(s)).toEqual(["DELETE /v1/subscriptions/sub_1"]);
});

test("a subscription that charges for an ended listing is cancelled", async () => {
  await using s = await setting();
  await told(s, paid());
  await s.world.sdk.listings.cancel("writer");
  expect(await stopped(s)).toEqual(["DELETE /v1/subscriptions/sub_1"]);
  await told(s, invoice(START / 1000 + 59 * DAY));
  expect(await stopped(s)).toEqual(["DELETE /v1/subscriptions/sub_1", "DELETE /v1/subscriptions/sub_1"]);
  expect(await stateOf(s)).toBe("CANCELLED");
  await told(s, subscription("deleted", "canceled"), invoice(START / 1000 + 59 * DAY));
  expect(await stopped(s)).toHaveLength(2);
});

test("a subscription paid with another amount is cancelled", async () => {
  await using s = await setting();
  await told(s, paid({ amount_total: 100 }));
  expect(await stopped(s)).toEqual(["DELETE /v1/subscriptions/sub_1"]);
});

test("concurrent checkouts are one", async () => {
  await using stripe = await stripeStandIn(() => START);
  await using world = await createWorld({ payments: stripePayments({ ...stripe, baseUrl: () => "" }) });
  await world.sdk.listings.create({ slug: "writer", name: "Writer", webhookUrl: "http://127.0.0.1:9/", permissions: [] });
  const opened = await Promise.all(Array.from({ length: 10 }, () => world.sdk.listings.checkout("writer")));
  expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
  expect((await world.sdk.payments.list()).pagination.total).toBe(1);
});

test("concurrent requests with one idempotency key open one checkout, and all learn when it fails", async () => {
  await using stripe = await stripeStandIn(() => START);
  await using world = await createWorld({ payments: stripePayments({ ...stripe, baseUrl: () => "" }) });
  await world.sdk.listings.create({ slug: "writer", name: "Writer", webhookUrl: "http://127.0.0.1:9/", permissions: [] });
  const path = "/api/v1/marketplace/listings/writer/checkout";
  const all = () => Promise.all(Array.from({ length: 10 }, () => ask(world, { path, headers: { "idempotency-key": "k" } })));
  stripe.failing = 402;
  expect((await all()).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 502));
  stripe.failing = null;
  stripe.calls.length = 0;
  expect((await all()).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
  expect(stripe.calls).toHaveLength(1);
});

test("a local checkout from before Stripe was set up is paid through Stripe", async () => {
  await using stripe = await stripeStandIn(() => START);
  const clock = { now: () => START } as TestWorld["app"]["deps"]["clock"];
  const payments = localPayments({ clock, baseUrl: () => "" });
  await using world = await createWorld({ payments });
  const { sdk } = world;
  for (const slug of ["writer", "listed"])
    await sdk.listings.create({ slug, name: slug, webhookUrl: "http://127.0.0.1:9/", permissions: [] });
  await sdk.payments.confirm((await sdk.listings.checkout("listed")).id);
  const before = await sdk.listings.checkout("writer");
  Object.assign(payments, stripePayments({ ...stripe, baseUrl: () => "" }));
  await expect(sdk.payments.confirm(before.id)).rejects.toMatchObject({ code: "invalid_state", status: 409 });
  expect(await sdk.listings.checkout("writer")).toMatchObject({ provider: "stripe", state: "PENDING" });
  // A listing paid for by hand does not renew by itself, so its next month can be paid.
  expect(await sdk.listings.checkout("listed")).toMatchObject({ provider: "stripe", state: "PENDING" });
});

test("the end of the subscription ends every activation", async () => {
  await using hooks = await startReceiver();
  await using s = await setting(hooks.url);
  await told(s, paid());
  const { id } = await activateAgent(s.world.sdk);
  const key = await getAgentKey(s.world, hooks, id);
  await told(s, subscription("deleted", "canceled"));
  expect((await ask(s.world, { method: "GET", path: agentPath(id), key })).status).toBe(401);
  await s.world.settle();
  expect(await s.world.sdk.activations.get(id)).toMatchObject({ status: "deactivated", deactivationReason: "admin_revoke" });
  expect(s.stripe.calls.map((c) => c.call)).not.toContain("DELETE /v1/subscriptions/sub_1");
});
