import { expect, test } from "vitest";
import { makeMacs } from "./macs.ts";

const macs = makeMacs(new Uint8Array(32).fill(1));

test("a signature is valid for its text, purpose and installation only", () => {
  const signature = macs.sign("link", "text");
  expect(signature).toMatch(/^[\w-]{16}$/);
  expect(macs.sign("link", "text", "hex")).toMatch(/^[0-9a-f]{20}$/);
  expect(macs.verify("link", "text", signature)).toBe(true);
  for (const [purpose, text] of [
    ["link", "text2"],
    ["other", "text"],
    ["link", ""],
  ] as const)
    expect(macs.verify(purpose, text, signature)).toBe(false);
  expect(makeMacs(new Uint8Array(32).fill(2)).verify("link", "text", signature)).toBe(false);
  for (const wrong of ["", signature.slice(1), `${signature}A`, signature.toLowerCase().toUpperCase(), "é".repeat(16)])
    expect(macs.verify("link", "text", wrong)).toBe(false);
});

test("links that were sent stay valid: signatures never change", () => {
  const macs = makeMacs(new Uint8Array(32).fill(7));
  expect(macs.sign("link", "text")).toBe("oLiWwnjmFLp4UGVg");
  expect(macs.sign("link", "zoë", "hex")).toBe("ae89b0dd7136dec23dc7");
});
