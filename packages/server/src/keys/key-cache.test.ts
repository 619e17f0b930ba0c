import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";
import { KeyCache } from "./key-cache.ts";
import { hashKey } from "./secret.ts";

/** A cache as another process on the same database has it, and the real time it sees. */
function otherProcess(world: TestWorld, maxAgeMs: number) {
  const time = { now: 0 };
  return { cache: new KeyCache(world.app.deps.db, maxAgeMs, () => time.now), time };
}

test("a process that is not the only one trusts a key for its maximum age, and asks again then", async () => {
  await using world = await createWorld();
  const { id, key } = await world.sdk.keys.create({ name: "x", permissions: ["keys:read"] });
  const { cache, time } = otherProcess(world, 500);
  const hash = hashKey(key);
  expect(cache.get(hash)).toBeUndefined();
  expect((await cache.load(hash))?.revokedAt).toBeNull();
  await world.sdk.keys.revoke(id);
  time.now = 499;
  expect(cache.get(hash)?.revokedAt).toBeNull();
  time.now = 500;
  expect(cache.get(hash)).toBeUndefined();
  expect((await cache.load(hash))?.revokedAt).toBe(world.clock.now());
});

test("a process that is alone trusts a key until it changes it", async () => {
  await using world = await createWorld();
  const { key } = await world.sdk.keys.create({ name: "x", permissions: ["keys:read"] });
  const { cache, time } = otherProcess(world, Number.POSITIVE_INFINITY);
  await cache.load(hashKey(key));
  time.now = 1e12;
  expect(cache.get(hashKey(key))).not.toBeUndefined();
  cache.clear();
  expect(cache.get(hashKey(key))).toBeUndefined();
});

test("a key that does not exist is cached too, and only the operator key is the operator's", async () => {
  await using world = await createWorld();
  const { cache } = otherProcess(world, 500);
  const hash = hashKey("ms_dev_none");
  expect(await cache.load(hash)).toBeNull();
  expect(cache.get(hash)).toBeNull();
  expect(await cache.isOperator(hashKey(world.operatorKey))).toBe(true);
  expect(await cache.isOperator(hashKey(world.apiKey))).toBe(false);
});
