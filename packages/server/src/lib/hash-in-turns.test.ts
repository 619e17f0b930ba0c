import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { hashInTurns } from "./turn.ts";

test.each(["", "short", "bücher".repeat(700_000)])("hashes a text in turns as at once", async (text) => {
  expect(await hashInTurns(text)).toBe(hash("sha256", text, "hex"));
});
