import type { Reader, Tx } from "../db/db.ts";
import type { WebhookDeps } from "./deps.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Job, OpenEvent } from "./streams.ts";

/**
 * How long (real ms) an event may wait between the moment at which its bytes were made and its attempt. One that waits longer for a slow
 * receiver is made again: the person it names may have been erased meanwhile.
 */
const MAX_AGE_MS = 500;

/** An event that is gone from the log of which its bytes are made. */
interface GoneEvent {
  readonly endpoint: Endpoint;
  readonly event: OpenEvent;
}

/** Makes the bytes of events that are not stored, and returns those that are gone: they stay without bytes. `at` is real time, ms. */
export async function composeEvents(q: Tx | Reader, jobs: readonly Job[], at: number): Promise<GoneEvent[]> {
  // Those that a stream continues with were made when they were claimed.
  const unstored = jobs.filter(({ event }) => event.eventKey !== null && !event.composed);
  const gone: GoneEvent[] = [];
  for (const [compose, some] of Map.groupBy(unstored, ({ endpoint }) => endpoint.policy.compose)) {
    const keys = [...new Set(some.flatMap(({ event, rest }) => [event, ...rest].flatMap(({ eventKey }) => eventKey ?? [])))];
    const composed = await compose?.(q, keys);
    for (const { endpoint, event: first, rest } of some) {
      for (const event of [first, ...rest]) {
        const found = composed?.get(event.eventKey ?? 0);
        event.composed = found && { ...found, at };
        if (!found) gone.push({ endpoint, event });
      }
    }
  }
  return gone;
}

/** Whether the bytes of an event were made too long ago; `now` is real time, ms. */
export function isStale({ composed }: OpenEvent, now: number): boolean {
  return composed !== undefined && now - composed.at > MAX_AGE_MS;
}

/** Makes the bytes of an event again, with those of the events that follow it. One that is gone stays without. */
export async function renewEvents({ db, clock }: Pick<WebhookDeps, "db" | "clock">, job: Job): Promise<void> {
  job.event.composed = undefined;
  await composeEvents(db.read, [job], clock.real.now());
}
