import { expect, test } from "vitest";
import { withoutAddresses } from "./addresses.ts";

const HEADERS = [
  { name: "From", value: "Ada <ada@example.com>" },
  { name: "Cc", value: "\"O'Brien\" <o'brien@example.com>, <ADA.L+x@Home.example>" },
  { name: "X-Other", value: "shown@example.com" },
];

test.each([
  ["'ada@example.com'", "'[address]'"],
  ["*ada@example.com*", "*[address]*"],
  ["_ada@example.com_", "_[address]_"],
  ["“ada@example.com”", "“[address]”"],
  ["{ada@example.com}", "{[address]}"],
  ["|ada@example.com|", "|[address]|"],
  ["https://x.example/?to=ada@example.com&b=1", "https://x.example/?to=[address]&b=1"],
  ["https://x.example/ada%40example.com/", "https://x.example/[address]/"],
  ["ada@example.com.Thanks", "[address].Thanks"],
  ["ada@example.com--Ada", "[address]--Ada"],
  ["ada.l+X@home.example!", "[address]!"],
  ["o'brien@example.com", "o'[address]"],
  ["bob@example.org?", "[address]?"],
])("an address that the headers name is not shown, whatever stands around it: %s", (text, shown) => {
  expect(withoutAddresses(`See ${text}`, HEADERS, ["bob@example.org"])).toBe(`See ${shown}`);
});

test("addresses that no such header names stay as they are", () => {
  const text = "shown@example.com, ada@example.org, nada@example.com and ada@example.community";
  expect(withoutAddresses(text, HEADERS, [])).toBe(text);
});
