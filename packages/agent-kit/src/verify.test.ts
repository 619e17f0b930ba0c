import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type SignedDelivery, verifySignature } from "./verify.ts";

const secret = "whsec_first";
const body = '{"type":"test.ping","name":"Ünïcödé ✉"}';
const sign = (bytes: string | Uint8Array, by = secret): string => createHmac("sha256", by).update(bytes).digest("hex");

describe("a signature is accepted", () => {
  test("that matches a published HMAC-SHA256 vector", () => {
    const signature = "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8";
    expect(verifySignature({ body: "The quick brown fox jumps over the lazy dog", signature, secrets: "key" })).toBe(0);
  });

  test("over text and over the same text as bytes", () => {
    const signature = sign(body);
    expect(verifySignature({ body, signature, secrets: secret })).toBe(0);
    expect(verifySignature({ body: new TextEncoder().encode(body), signature, secrets: [secret] })).toBe(0);
  });

  test("over bytes that are no text", () => {
    const bytes = Uint8Array.from([0xff, 0xfe, 0, 10, 13, 0xc3]);
    expect(verifySignature({ body: bytes, signature: sign(bytes), secrets: secret })).toBe(0);
  });

  test("in capital letters, since hex has no case", () => {
    expect(verifySignature({ body, signature: sign(body).toUpperCase(), secrets: secret })).toBe(0);
  });

  test("of an empty body", () => {
    expect(verifySignature({ body: "", signature: sign(""), secrets: secret })).toBe(0);
  });

  test("made with any of several secrets, and says which", () => {
    const secrets = ["new", "old", secret];
    expect(verifySignature({ body, signature: sign(body), secrets })).toBe(2);
    expect(verifySignature({ body, signature: sign(body, "new"), secrets })).toBe(0);
    expect(verifySignature({ body, signature: sign(body, "old"), secrets: ["old", "old"] })).toBe(0);
  });
});

describe("a signature is refused", () => {
  const good = sign(body);
  const cases: [string, SignedDelivery["signature"]][] = [
    ["when the header is missing", undefined],
    ["when the header is null", null],
    ["when it is empty", ""],
    ["when it is cut short", good.slice(0, 62)],
    ["when it has an odd length", good.slice(0, 63)],
    ["when it is longer than a digest", `${good}00`],
    ["when one digit differs", (good.startsWith("0") ? "1" : "0") + good.slice(1)],
    ["when the last digit differs", good.slice(0, 63) + (good.endsWith("0") ? "1" : "0")],
    ["when it is base64", createHmac("sha256", secret).update(body).digest("base64")],
    ["when it carries a prefix", `sha256=${good}`],
    ["when spaces stand around it", ` ${good} `],
    ["when a line break follows it", `${good}\n`],
    ["when it has letters beyond f", `g${good.slice(1)}`],
    ["when the header came twice", [good, good]],
    ["when the header came twice, joined", `${good}, ${good}`],
  ];
  test.each(cases)("%s", (_name, signature) => {
    expect(verifySignature({ body, signature, secrets: secret })).toBeNull();
  });

  test("when another secret made it", () => {
    expect(verifySignature({ body, signature: sign(body, "other"), secrets: [secret, "third"] })).toBeNull();
  });

  test("when the body was parsed and written again", () => {
    const pretty = '{ "type": "test.ping" }';
    const again = JSON.stringify(JSON.parse(pretty));
    expect(verifySignature({ body: again, signature: sign(pretty), secrets: secret })).toBeNull();
  });

  test("when a byte order mark or a line break was added to the body", () => {
    const signature = sign(body);
    expect(verifySignature({ body: `\ufeff${body}`, signature, secrets: secret })).toBeNull();
    expect(verifySignature({ body: `${body}\n`, signature, secrets: secret })).toBeNull();
  });
});

describe("a mistake of the receiver is an exception, not a refusal", () => {
  const signature = sign(body);
  test("no secrets", () => {
    expect(() => verifySignature({ body, signature, secrets: [] })).toThrow("nothing to verify with");
  });
  test("an empty secret, as an unset variable gives", () => {
    expect(() => verifySignature({ body, signature, secrets: "" })).toThrow("secrets[0] is empty");
    expect(() => verifySignature({ body, signature, secrets: [secret, ""] })).toThrow("secrets[1] is empty");
  });
  test("a parsed body", () => {
    const parsed = JSON.parse(body) as string;
    expect(() => verifySignature({ body: parsed, signature, secrets: secret })).toThrow("before any JSON parsing");
  });
});

describe("the form of Standard Webhooks", () => {
  // The example of the specification's test vectors.
  const vector = {
    secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestamp: "1614265330",
    body: '{"test": 2432232314}',
    signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    now: 1_614_265_330_000,
  };
  const other = `v1,${Buffer.alloc(32, 1).toString("base64")}`;

  test("is verified by a published vector, over text and bytes", () => {
    expect(verifySignature(vector)).toBe(0);
    expect(verifySignature({ ...vector, body: new TextEncoder().encode(vector.body) })).toBe(0);
  });

  test("says which of several secrets signed, among several signatures", () => {
    const signature = `v1a,abc ${other} ${vector.signature}`;
    expect(verifySignature({ ...vector, signature, secrets: ["whsec_AAAA", vector.secrets] })).toBe(1);
  });

  const cases: [string, Partial<SignedDelivery>][] = [
    ["another id", { id: "msg_other" }],
    ["another time", { timestamp: "1614265331" }],
    ["another body", { body: "{}" }],
    ["another secret", { secrets: "whsec_AAAA" }],
    ["a missing header", { id: null }],
    ["a time that is no number", { timestamp: "now" }],
    ["a time too long ago", { now: vector.now + 301_000 }],
    ["a time too far ahead", { now: vector.now - 301_000 }],
    ["a signature of another version only", { signature: vector.signature.replace("v1,", "v2,") }],
    ["a digest that is cut short", { signature: vector.signature.slice(0, -4) }],
    ["a digest of another length", { signature: `v1,${Buffer.alloc(33).toString("base64")}` }],
    ["the hex form in its place", { signature: `v1,${sign(vector.body, vector.secrets)}` }],
  ];
  test.each(cases)("is refused with %s", (_name, change) => {
    expect(verifySignature({ ...vector, ...change })).toBeNull();
  });

  test("takes another tolerance", () => {
    expect(verifySignature({ ...vector, now: vector.now + 3_600_000, toleranceSeconds: 3600 })).toBe(0);
  });

  test("without id and timestamp is a mistake of the receiver", () => {
    const { id: _id, ...rest } = vector;
    expect(() => verifySignature(rest)).toThrow("together with id and timestamp");
  });
});
