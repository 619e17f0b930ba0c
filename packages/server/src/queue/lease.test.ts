import { expect, test } from "vitest";
import { manualTime } from "../../test/manual-time.ts";
import { LEASE_MS, Lease } from "./lease.ts";

test("a lease expires once, ten minutes after its begin or its last sign of life", async () => {
  const time = manualTime();
  const expired: string[] = [];
  const lease = new Lease(time.real, ({ message }) => void expired.push(message));
  await time.advance(LEASE_MS - 1);
  lease.renew();
  await time.advance(LEASE_MS - 1);
  expect(expired).toEqual([]);
  await time.advance(1);
  expect(expired).toEqual(["The attempt took longer than its lease of 10 minutes."]);
  await time.advance(2 * LEASE_MS);
  expect([expired.length, time.timers]).toEqual([1, 0]);
});

test("a lease that has ended does not expire", async () => {
  const time = manualTime();
  let expired = false;
  const lease = new Lease(time.real, () => {
    expired = true;
  });
  await time.advance(LEASE_MS / 2);
  lease.end();
  await time.advance(LEASE_MS);
  expect([expired, time.timers]).toEqual([false, 0]);
});
