import { expect, test } from "vitest";
import { StorageUnavailable } from "../db/errors.ts";
import type { Deps } from "../deps.ts";
import { silentLog } from "../lib/log.ts";
import { type Found, round } from "./complete-batch.ts";
import type { Ended } from "./outcomes.ts";
import type { Job } from "./streams.ts";

const outcome = (listingId: string, until: number): Ended => ({
  job: { activationId: "act", listing: { id: listingId }, event: { id: "evt" }, until } as Job,
  attempt: null,
});

/** What a round finds whose transactions all fail with this error, and what it leaves. */
const failing = async (error: Error, outcomes: readonly Ended[], wishes: readonly [string, number][]) => {
  const deps = { clock: { now: () => 5000 }, log: silentLog, db: { tx: () => Promise.reject(error) } } as unknown as Deps;
  const found: Found[] = [];
  const left = await round(deps, "c", outcomes, wishes, (one) => void found.push(one));
  const followed = found.flatMap((one) => [...one.followed]).map(([{ listing }, { next, dueAt }]) => [listing.id, next, dueAt]);
  const claimed = found.flatMap((one) => one.claimed).map(([id, { jobs, nextAt }]) => [id, jobs, nextAt]);
  return { left, followed, claimed };
};

test("what cannot be noted or taken is looked for again when its lease has ended", async () => {
  const outcomes = [outcome("a", 7000), outcome("b", 8000)];
  expect(await failing(new Error("No."), outcomes, [["c", 3]])).toEqual({
    left: null,
    followed: [
      ["a", null, 7000],
      ["b", null, 8000],
    ],
    claimed: [["c", [], 35_000]],
  });
});

test("what could not be stored for want of a database is kept", async () => {
  const outcomes = [outcome("a", 7000), outcome("b", 8000)];
  expect(await failing(new StorageUnavailable("No disk."), outcomes, [["c", 3]])).toEqual({ left: outcomes, followed: [], claimed: [] });
});
