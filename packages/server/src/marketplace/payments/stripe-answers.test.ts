import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { ask } from "../../../test/scenario.ts";
import { stripeStandIn } from "../../../test/stripe-stand-in.ts";
import { createWorld } from "../../testing.ts";
import { stripePayments } from "./stripe.ts";

const START = Date.parse("2026-01-01T00:00:00.000Z");
const ORDER = { paymentId: "pay_1", listingId: "lst_1", name: "Writer", amount: 2900, currency: "usd" };

const json =
  (body: unknown, status = 200) =>
  (response: ServerResponse): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

const session = (more: object) => json({ id: "cs_1", url: "https://checkout.stripe.test/1", expires_at: START / 1000 + 86_400, ...more });

describe("a response of Stripe that is not a checkout answers 502 and stores nothing:", () => {
  test.each<[string, (response: ServerResponse) => void]>([
    ["a page", (response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>")],
    ["nothing", (response) => void response.writeHead(200).end()],
    ["null", json(null)],
    ["a list", json([])],
    ["no address", session({ url: null })],
    ["an address that is none", session({ url: { a: 1 } })],
    ["an id that is none", session({ id: 17 })],
    ["an id with U+0000", session({ id: "cs_\0" })],
    ["no end", session({ expires_at: undefined })],
    ["an end in words", session({ expires_at: "soon" })],
    ["an end beyond all time", session({ expires_at: Number.MAX_SAFE_INTEGER })],
    ["another place", (response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()],
    ["a rate limit", json({ error: { type: "invalid_request_error", code: "rate_limit", message: "slow down" } }, 429)],
    ["a cut connection", (response) => void response.socket?.destroy()],
  ])("%s", async (_what, answer) => {
    await using stripe = await stripeStandIn(() => START);
    await using world = await createWorld({ payments: stripePayments({ ...stripe, baseUrl: () => "" }) });
    await world.sdk.listings.create({ slug: "writer", name: "Writer", webhookUrl: "http://127.0.0.1:9/", permissions: [] });
    stripe.answering = answer;
    const response = await ask(world, { path: "/api/v1/marketplace/listings/writer/checkout" });
    expect([response.status, await response.json()]).toMatchObject([502, { error: { code: "payment_provider_error" } }]);
    expect((await world.sdk.payments.list()).pagination.total).toBe(0);
    stripe.answering = null;
    expect((await world.sdk.listings.checkout("writer")).state).toBe("PENDING");
  });
});

test("a response that never starts or never ends times out", async () => {
  await using stripe = await stripeStandIn(() => START);
  const provider = stripePayments({ ...stripe, baseUrl: () => "", timeoutMs: 100 });
  stripe.answering = (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const drip = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(drip));
  };
  await expect(provider.openCheckout(ORDER)).rejects.toThrow("Stripe rejected the request");
  stripe.answering = () => {};
  await expect(provider.openCheckout(ORDER)).rejects.toThrow("Stripe rejected the request");
});

test("a checkout with the id of another one answers 502", async () => {
  await using stripe = await stripeStandIn(() => START);
  await using world = await createWorld({ payments: stripePayments({ ...stripe, baseUrl: () => "" }) });
  for (const slug of ["writer", "other"])
    await world.sdk.listings.create({ slug, name: slug, webhookUrl: "http://127.0.0.1:9/", permissions: [] });
  stripe.answering = session({});
  await world.sdk.listings.checkout("writer");
  await expect(world.sdk.listings.checkout("other")).rejects.toMatchObject({ code: "payment_provider_error", status: 502 });
  expect((await world.sdk.payments.list()).pagination.total).toBe(1);
});

test("neither the error of a failed call nor its cause contains the key", async () => {
  await using stripe = await stripeStandIn(() => START);
  const provider = stripePayments({ ...stripe, baseUrl: () => "" });
  for (const [status, type] of [
    [401, "invalid_request_error"],
    [402, "card_error"],
    [429, "invalid_request_error"],
  ] as const) {
    stripe.answering = json({ error: { type, message: `Invalid API Key provided: ${stripe.key}` } }, status);
    const error = await provider.openCheckout(ORDER).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ProviderFailed" });
    const { message, cause } = error as Error;
    expect(`${message} ${String(cause)}`).toContain("Invalid API Key provided: ***");
    expect(`${message} ${String(cause)} ${JSON.stringify(cause)}`).not.toContain(stripe.key);
  }
});

test("a subscription counts as stopped only if it has ended or does not exist", async () => {
  await using stripe = await stripeStandIn(() => START);
  const provider = stripePayments({ ...stripe, baseUrl: () => "" });
  stripe.answering = json({ error: { type: "invalid_request_error", message: "no" } }, 400);
  await expect(provider.cancelSubscription("sub_1")).rejects.toThrow("Stripe rejected the request");
  await expect(provider.expireCheckout("cs_1")).resolves.toBeUndefined();
  stripe.answering = json({ error: { type: "invalid_request_error", code: "resource_missing", message: "no" } }, 404);
  await expect(provider.cancelSubscription("sub_1")).resolves.toBeUndefined();
});
