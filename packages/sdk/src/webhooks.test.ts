import { Webhook } from "standardwebhooks";
import { describe, expect, expectTypeOf, test, vi } from "vitest";
import type { Event } from "./index.ts";
import { webhooks } from "./index.ts";

const secretOf = (fill: number): string => `whsec_${Buffer.alloc(32, fill).toString("base64")}`;
const secret = secretOf(1);
const at = 1_770_000_000_000;
const now = (): number => at;
const body = JSON.stringify({ id: "evt_0000000001a", sequence: 42, type: "email.bounced", data: { type: "PERMANENT", smtpCode: 550 } });

const sign = (key: string, text = body, when = at) => ({
  "webhook-id": "evt_0000000001a",
  "webhook-timestamp": String(Math.floor(when / 1000)),
  "webhook-signature": new Webhook(key).sign("evt_0000000001a", new Date(when), text),
});

describe("webhooks.unwrap", () => {
  test("gives the event of a request that the official package has signed", async () => {
    const event = await webhooks.unwrap(body, sign(secret), secret, { now });
    expect(event).toEqual(JSON.parse(body));
    expectTypeOf(event).toEqualTypeOf<Event>();
    if (event.type === "email.bounced") expectTypeOf(event.data.smtpCode).toEqualTypeOf<number | null>();
    expect(await webhooks.unwrap(Buffer.from(body), new Headers(sign(secret)), [secret], { now })).toEqual(event);
  });

  test("takes headers in any case, several signatures and several secrets", async () => {
    const { "webhook-signature": other, ...rest } = sign(secretOf(2));
    const headers = { ...rest, "Webhook-Signature": `v1a,abc ${other} ${sign(secretOf(3))["webhook-signature"]}` };
    await expect(webhooks.unwrap(body, headers, [secret, secretOf(3)], { now })).resolves.toMatchObject({ type: "email.bounced" });
    await expect(webhooks.unwrap(body, headers, secret, { now })).rejects.toMatchObject({ code: "wrong_signature" });
  });

  test.each([
    ["a changed body", `${body} `, sign(secret), "wrong_signature"],
    ["a changed id", body, { ...sign(secret), "webhook-id": "evt_2" }, "wrong_signature"],
    ["a changed time", body, { ...sign(secret), "webhook-timestamp": String(at / 1000 + 1) }, "wrong_signature"],
    ["an old request", body, sign(secret, body, at - 301_000), "too_old"],
    ["a request from the future", body, sign(secret, body, at + 301_000), "too_new"],
    ["no signature", body, { "webhook-id": "x", "webhook-timestamp": "1" }, "missing_headers"],
    ["a signature that is no base64", body, { ...sign(secret), "webhook-signature": "v1,%%% v1,AAAA" }, "wrong_signature"],
    ["a time that is none", body, { ...sign(secret), "webhook-timestamp": "0x10" }, "missing_headers"],
    ["a signed text that is no event", "[]", sign(secret, "[]"), "not_an_event"],
  ])("refuses %s", async (_, text, headers, code) => {
    await expect(webhooks.unwrap(text, headers, secret, { now })).rejects.toMatchObject({ name: "WebhookVerificationError", code });
  });

  test("tells a mistake of the receiver from a forged request", async () => {
    const usage = { name: "UsageError" };
    await expect(webhooks.unwrap(JSON.parse(body), sign(secret), secret, { now })).rejects.toMatchObject(usage);
    await expect(webhooks.unwrap(body, sign(secret), [], { now })).rejects.toMatchObject(usage);
    await expect(webhooks.unwrap(body, sign(secret), "ms_live_key", { now })).rejects.toMatchObject(usage);
  });

  test("goes by the clock of the machine, which a suspend or a step moves and a monotonic clock misses", async () => {
    const later = Date.now() + 3_600_000;
    const clock = vi.spyOn(Date, "now").mockReturnValue(later);
    try {
      await expect(webhooks.unwrap(body, sign(secret, body, later), secret)).resolves.toMatchObject({ sequence: 42 });
    } finally {
      clock.mockRestore();
    }
  });

  test("accepts an older request where the receiver allows it", async () => {
    const headers = sign(secret, body, at - 3_600_000);
    await expect(webhooks.unwrap(body, headers, secret, { now, toleranceSeconds: 7200 })).resolves.toMatchObject({ sequence: 42 });
  });
});
