import { parseMailbox } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { formatMailbox } from "./address-text.ts";

test.each([
  [null, "a@acme.example"],
  ["", "a@acme.example"],
  ["Acme", "Acme <a@acme.example>"],
  ["Zoë & Söhne", "Zoë & Söhne <a@acme.example>"],
  ["Doe, Jane", '"Doe, Jane" <a@acme.example>'],
  ['ceo@acme.com> , "x" <', '"ceo@acme.com> , \\"x\\" <" <a@acme.example>'],
  ["back\\slash", '"back\\\\slash" <a@acme.example>'],
])("the name %s", (name, text) => {
  expect(formatMailbox("a@acme.example", name)).toBe(text);
  expect(parseMailbox(text)).toMatchObject({ address: "a@acme.example", name: name ?? "" });
});
