import { expect, test } from "vitest";
import { ContentCache } from "./content-cache.ts";

test("a content that was used twice is kept, however many others were used once", () => {
  const cache = new ContentCache<number>(1000);
  cache.set("often", 1, 10);
  expect(cache.get("often")).toBe(1);
  for (let n = 0; n < 100; n += 1) cache.set(`once ${n}`, n, 10);
  expect(cache.get("often")).toBe(1);
  expect([cache.get("once 83"), cache.get("once 84"), cache.get("once 99")]).toEqual([undefined, 84, 99]);
});

test("contents used repeatedly are dropped by their last use once they are too large together", () => {
  const cache = new ContentCache<number>(1000);
  for (let n = 0; n < 25; n += 1) {
    cache.set(`${n}`, n, 50);
    expect(cache.get(`${n}`)).toBe(n);
    expect(cache.get("0")).toBe(0);
  }
  for (let n = 0; n < 16; n += 1) cache.set(`once ${n}`, n, 10);
  expect([cache.get("0"), cache.get("5"), cache.get("6"), cache.get("24")]).toEqual([0, undefined, 6, 24]);
});

test("a second set() of a content replaces the first, and a very large content is not kept", () => {
  const cache = new ContentCache<number>(1000);
  cache.set("a", 1, 10);
  expect(cache.get("a")).toBe(1);
  cache.set("a", 2, 10);
  expect(cache.get("a")).toBe(2);
  cache.set("large", 1, 63);
  expect(cache.get("large")).toBeUndefined();
  cache.clear();
  expect(cache.get("a")).toBeUndefined();
});
