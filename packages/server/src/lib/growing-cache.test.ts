import { expect, test } from "vitest";
import { growingCache } from "./growing-cache.ts";

test("a full cache forgets what was not used for longest", () => {
  const cache = growingCache<string, number>(2);
  cache.set("ada", 1);
  cache.set("grace", 2);
  cache.get("ada");
  cache.set("edsger", 3);
  expect([...cache.keys()].sort()).toEqual(["ada", "edsger"]);
});
