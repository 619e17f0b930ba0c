import { expect, test } from "vitest";
import { VerifiedSenders } from "./verified-senders.ts";

test("a full cache forgets one sender, not all of them", () => {
  const verified = new VerifiedSenders(Number.POSITIVE_INFINITY, () => 0);
  for (let i = 0; i < 20_000; i += 1) verified.add("ws", `${i}@acme.example`);
  expect(verified.has("ws", "0@acme.example")).toBe(true);
  verified.add("ws", "last@acme.example");
  expect(["0", "1", "2", "19999", "last"].map((name) => verified.has("ws", `${name}@acme.example`))).toEqual([
    true,
    false,
    true,
    true,
    true,
  ]);
});

test("a sender is believed for as long as another process may remove it", () => {
  let now = 0;
  const verified = new VerifiedSenders(1000, () => now);
  verified.add("ws", "ada@acme.example");
  now = 999;
  expect(verified.has("ws", "ada@acme.example")).toBe(true);
  now = 1000;
  expect([verified.has("ws", "ada@acme.example"), verified.has("other", "ada@acme.example")]).toEqual([false, false]);
});
