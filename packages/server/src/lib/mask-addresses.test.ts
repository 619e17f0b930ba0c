import { expect, test } from "vitest";
import { longestTurn } from "../../test/longest-turn.ts";
import { maskAddresses } from "./address-text.ts";

test.each([
  ["554 5.7.1 <ada@example.com>: Relay access denied", "554 5.7.1 <[address]>: Relay access denied"],
  ["550 ada.lovelace+x@mail.example.com, bob@example.com unknown", "550 [address], [address] unknown"],
  ['550 <"ada lovelace"@example.com> unknown', "550 <[address]> unknown"],
  ["550 <ädä@münchen.example>: no", "550 <[address]>: no"],
  ["connect ECONNREFUSED 127.0.0.1:25", "connect ECONNREFUSED 127.0.0.1:25"],
])("%s", (text, masked) => {
  expect(maskAddresses(text)).toBe(masked);
});

test("a long text without an address takes a moment only", async () => {
  const text = "x".repeat(1_000_000);
  let masked = "";
  const turn = await longestTurn(async () => {
    masked = maskAddresses(text);
  });
  expect(masked).toBe(text);
  // A quiet machine needs 300 ms.
  expect(turn).toBeLessThan(3000);
});
