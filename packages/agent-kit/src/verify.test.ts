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
