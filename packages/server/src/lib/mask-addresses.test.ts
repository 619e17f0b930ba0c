import { expect, test } from "vitest";
import { maskAddresses } from "./mask-addresses.ts";

test.each([
  ["554 5.7.1 <ada@example.com>: Relay access denied", "554 5.7.1 <[address]>: Relay access denied"],
  ["550 ada.lovelace+x@mail.example.com, bob@example.com unknown", "550 [address], [address] unknown"],
  ['550 <"ada lovelace"@example.com> unknown', "550 <[address]> unknown"],
  ["550 <ädä@münchen.example>: no", "550 <[address]>: no"],
  ["connect ECONNREFUSED 127.0.0.1:25", "connect ECONNREFUSED 127.0.0.1:25"],
])("%s", (text, masked) => {
  expect(maskAddresses(text)).toBe(masked);
});

test("a long text without an address costs no time", () => {
  const text = "x".repeat(1_000_000);
  expect(maskAddresses(text)).toBe(text);
});
