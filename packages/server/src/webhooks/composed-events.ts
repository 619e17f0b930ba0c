import type { Reader, Tx } from "../db/db.ts";
import { MAX_AGE_MS } from "../lib/freshness.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Job, OpenEvent } from "./streams.ts";
import type { WebhookDeps } from "./webhooks.ts";

/** An event that is gone from the log of which its bytes are made. */
interface GoneEvent {
  readonly endpoint: Endpoint;
  readonly event: OpenEvent;
}

/** Makes the bytes of events that are not stored, and returns those that are gone: they stay without bytes. `at` is real time, ms. */
export async function composeEvents(q: Tx | Reader, jobs: readonly Job[], at: number): Promise<GoneEvent[]> {
  // Events with which a stream continues were composed when they were claimed.
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

/** True if the bytes of an event were composed too long ago; `now` is real time, ms. */
export function isStale({ composed }: OpenEvent, now: number): boolean {
  return composed !== undefined && now - composed.at > MAX_AGE_MS;
}

/** Makes the bytes of events again: together for all that come up in one turn of the event loop. */
export class EventRenewer {
  readonly #deps: () => Pick<WebhookDeps, "db" | "clock">;
  #jobs: Job[] = [];
  #next: Promise<void> | null = null;

  constructor(deps: () => Pick<WebhookDeps, "db" | "clock">) {
    this.#deps = deps;
  }

  /** Makes the bytes of an event again, with those of the events that follow it. One that is gone stays without. */
  renew(job: Job): Promise<void> {
    this.#jobs.push(job);
    this.#next ??= yieldToEventLoop().then(() => this.#run());
    return this.#next;
  }

  async #run(): Promise<void> {
    const { db, clock } = this.#deps();
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#next = null;
    for (const { event } of jobs) event.composed = undefined;
    await composeEvents(db.read, jobs, clock.real.now());
  }
}
