import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { Signer } from "./sender.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const NEXT = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const NOW = Date.parse("2026-01-01T12:00:00.900Z");
const message = {
  id: "evt_1",
  type: "agent.paused",
  at: Date.parse("2026-01-01T09:00:00.000Z"),
  attempt: 3,
  body: '{"id":"evt_1","comment":"für 🚀"}',
};
const bytes = Buffer.from(message.body);

const pairs = (headers: readonly string[]): Record<string, string> =>
  Object.fromEntries(headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] ?? ""]] : [])));

test("X-Service-Signature: the hex HMAC of the raw bytes, with the text of the secret as the key", () => {
  const headers = pairs(new Signer({ current: SECRET, next: null }).headers(message, bytes, NOW));
  expect(headers["x-service-signature"]).toBe(createHmac("sha256", SECRET).update(bytes).digest("hex"));
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "accept-encoding": "identity",
    "x-service-event-id": "evt_1",
    "x-service-event-type": "agent.paused",
    "x-service-timestamp": "2026-01-01T09:00:00.000Z",
    "x-service-attempt": "3",
    "webhook-id": "evt_1",
    "webhook-timestamp": "1767268800",
  });
});

test("webhook-signature: id, seconds and bytes, with the decoded secret as the key", () => {
  const headers = pairs(new Signer({ current: SECRET, next: null }).headers(message, bytes, NOW));
  const expected = createHmac("sha256", Buffer.alloc(32, 7)).update(`evt_1.1767268800.${message.body}`).digest("base64");
  expect(headers["webhook-signature"]).toBe(`v1,${expected}`);
});

test("during a rotation X-Service-Signature uses the old secret, a second header the new one, and webhook-signature both", () => {
  const headers = pairs(new Signer({ current: SECRET, next: NEXT }).headers(message, bytes, NOW));
  expect(headers["x-service-signature"]).toBe(createHmac("sha256", SECRET).update(bytes).digest("hex"));
  expect(headers["x-service-signature-next"]).toBe(createHmac("sha256", NEXT).update(bytes).digest("hex"));
  const signed = [7, 9].map(
    (fill) => `v1,${createHmac("sha256", Buffer.alloc(32, fill)).update(`evt_1.1767268800.${message.body}`).digest("base64")}`,
  );
  expect(headers["webhook-signature"]).toBe(signed.join(" "));
});
