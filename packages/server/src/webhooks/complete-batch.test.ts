import { expect, test } from "vitest";
import { StorageUnavailable } from "../db/errors.ts";
import { silentLog } from "../lib/log.ts";
import { completeBatch, type Progress } from "./complete-batch.ts";
import type { ClaimRequest } from "./concurrency.ts";
import type { Outcome } from "./outcomes.ts";
import type { Job } from "./streams.ts";
import type { WebhookDeps } from "./webhooks.ts";

const outcome = (endpointId: string, leaseEndsAt: number): Outcome => ({
  job: { endpoint: { id: endpointId }, event: { id: "evt" }, leaseEndsAt } as Job,
  attempt: null,
});

/** The progress of a batch whose transactions all fail with this error, and what is left of it. */
const failing = async (error: Error, outcomes: readonly Outcome[], requests: readonly ClaimRequest[]) => {
  const deps = { clock: { now: () => 5000 }, log: silentLog, db: { tx: () => Promise.reject(error) } } as unknown as WebhookDeps;
  const progress: Progress[] = [];
  const loadEndpoint = () => Promise.resolve(undefined);
  const left = await completeBatch(deps, loadEndpoint, { claim: "c", outcomes, requests }, (one) => void progress.push(one));
  const continued = progress.flatMap((one) => [...one.continued]).map(([{ endpoint }, { next, dueAt }]) => [endpoint.id, next, dueAt]);
  const claimed = progress.flatMap((one) => one.claimed).map(([id, { jobs, nextAt }]) => [id, jobs, nextAt]);
  return { left, continued, claimed };
};

test("outcomes and claims that fail are looked for again when the lease has ended", async () => {
  const outcomes = [outcome("a", 7000), outcome("b", 8000)];
  expect(await failing(new Error("No."), outcomes, [["c", 3]])).toEqual({
    left: null,
    continued: [
      ["a", null, 7000],
      ["b", null, 8000],
    ],
    claimed: [["c", [], 35_000]],
  });
});

test("outcomes are kept while the database is unavailable", async () => {
  const outcomes = [outcome("a", 7000), outcome("b", 8000)];
  const left = outcomes.map((one) => ({ ...one, isRepeated: true }));
  expect(await failing(new StorageUnavailable("No disk."), outcomes, [["c", 3]])).toEqual({ left, continued: [], claimed: [] });
});
