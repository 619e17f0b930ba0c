import { expect, test, vi } from "vitest";
import { EventRenewer, isStale } from "./composed-events.ts";
import type { Job } from "./streams.ts";
import type { WebhookDeps } from "./webhooks.ts";

test("events that come up in one turn are made again with one query, and each gets its bytes", async () => {
  const compose = vi.fn(
    async (_: unknown, keys: readonly number[]) => new Map(keys.map((key) => [key, { id: `e${key}`, body: `${key}` }])),
  );
  const deps = { db: { read: {} }, clock: { real: { now: () => 1000 } } } as unknown as Pick<WebhookDeps, "db" | "clock">;
  const renewer = new EventRenewer(() => deps);
  const endpoint = { policy: { compose } };
  const jobs = Array.from(
    { length: 20 },
    (_, i) => ({ endpoint, event: { eventKey: i, composed: { id: "old", body: "old", at: 0 } }, rest: [] }) as unknown as Job,
  );
  expect(jobs.every(({ event }) => isStale(event, 1000))).toBe(true);
  await Promise.all(jobs.map((job) => renewer.renew(job)));
  expect(compose).toHaveBeenCalledTimes(1);
  expect(jobs.map(({ event }) => event.composed)).toEqual(jobs.map((_, i) => ({ id: `e${i}`, body: `${i}`, at: 1000 })));
  await renewer.renew(jobs[0] as Job);
  expect(compose).toHaveBeenCalledTimes(2);
});
