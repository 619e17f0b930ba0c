import { type AttemptParts, type AttemptResult, attemptDelivery } from "./attempt.ts";
import type { Position } from "./position-file.ts";
import type { OutgoingEvent } from "./signed-headers.ts";

/** An event on its way from the server to a local webhook. */
export interface ForwardedEvent extends OutgoingEvent {
  /** Its number in the stream of the workspace; null for an event of an agent. */
  readonly sequence: number | null;
  /** Its place in the stream: the sequence, or the id of an event of an agent. */
  readonly position: Position;
  /** What it is about: the events of one subject are forwarded one after the other. */
  readonly subject: string;
}

/** How one attempt to forward an event ended. */
export interface ForwardResult extends AttemptResult {
  readonly event: ForwardedEvent;
}

interface ForwarderParts extends AttemptParts {
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly findUrl: (type: string) => string | null;
  /** An attempt has ended. */
  readonly report: (result: ForwardResult) => Promise<void>;
  /** Nothing listens at a URL: it is tried again, in order, until something does. */
  readonly waits: (url: string) => void;
}

const IN_FLIGHT = 16;
/** The ids that are remembered of events that are done: more than a stream repeats after it was interrupted. */
export const KEPT_IDS = 200;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;

/**
 * Forwards events to local webhooks, those of one subject in their order, 16 at a time. An event to which nothing listens is tried until
 * something does; one that is answered, whatever the answer, is done.
 *
 * | event          | attempt answered | nothing listens        | the program ends    |
 * | -------------- | ---------------- | ---------------------- | ------------------- |
 * | waits its turn | –                | –                      | not forwarded       |
 * | under way      | done             | again, after some time | not forwarded       |
 */
export class Forwarder {
  readonly #parts: ForwarderParts;
  /** The last event of each subject that is not done. */
  readonly #subjects = new Map<string, Promise<void>>();
  /** Events from the first one that is not done, in their order. */
  readonly #open: { readonly event: ForwardedEvent; done: boolean }[] = [];
  /** The ids of the last events that are done. */
  readonly #done: string[] = [];
  #position: Position | null = null;
  #running = 0;
  #freed: (() => void) | null = null;
  /** The last attempt that was answered or failed. */
  #last: ForwardResult | null = null;

  constructor(parts: ForwarderParts) {
    this.#parts = parts;
  }

  /** The place in the stream up to which everything is done; null before the first event. */
  get position(): Position | null {
    return this.#position;
  }

  /** The ids of the last events that are done. */
  get done(): readonly string[] {
    return this.#done;
  }

  /** Accepts an event; resolves when there is room for the next one. */
  async add(event: ForwardedEvent): Promise<void> {
    const { subject } = event;
    const entry = { event, done: false };
    this.#open.push(entry);
    this.#running += 1;
    const before = this.#subjects.get(subject) ?? Promise.resolve();
    const done = before
      .then(async () => {
        if (await this.#forward(event)) this.#finish(entry);
      })
      .finally(() => {
        if (this.#subjects.get(subject) === done) this.#subjects.delete(subject);
        this.#running -= 1;
        this.#freed?.();
      });
    // An error is thrown by `settle`.
    done.catch(() => {});
    this.#subjects.set(subject, done);
    while (this.#running >= IN_FLIGHT && !this.#parts.signal.aborted) await new Promise<void>((free) => (this.#freed = free));
  }

  /** Forwards the last event once more, as a further attempt; false if there was none. */
  async repeat(): Promise<boolean> {
    if (this.#last === null) return false;
    const { event, url, attempt } = this.#last;
    await this.#conclude({ event, ...(await attemptDelivery(event, url, this.#parts, attempt + 1)) });
    return true;
  }

  /** Resolves when every event is done. Throws what reporting threw. */
  async settle(): Promise<void> {
    await Promise.all(this.#subjects.values());
  }

  #finish(entry: { readonly event: ForwardedEvent; done: boolean }): void {
    entry.done = true;
    this.#done.push(entry.event.id);
    if (this.#done.length > KEPT_IDS) this.#done.shift();
    while (this.#open[0]?.done) this.#position = this.#open.shift()?.event.position ?? this.#position;
  }

  /** False if the program ends before the event is done. */
  async #forward(event: ForwardedEvent): Promise<boolean> {
    const { findUrl, signal, sleep, waits } = this.#parts;
    const url = findUrl(event.type);
    if (url === null) return true;
    for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      const result = { event, ...(await attemptDelivery(event, url, this.#parts)) };
      if (result.status === null && signal.aborted) return false;
      if (!result.absent) {
        await this.#conclude(result);
        return true;
      }
      waits(url);
      await sleep(wait, signal);
    }
    return false;
  }

  async #conclude(result: ForwardResult): Promise<void> {
    this.#last = result;
    await this.#parts.report(result);
  }
}
