import { type AttemptParts, type AttemptResult, attemptDelivery } from "./attempt.ts";
import type { Position } from "./position-file.ts";
import type { OutgoingEvent } from "./signed-headers.ts";

/** An event on its way from the server to a local webhook. */
export interface ForwardedEvent extends OutgoingEvent {
  /** Its number in the stream of the workspace; null for an event of an agent. */
  readonly sequence: number | null;
  /** Its place in the stream: the sequence, or the id of an event of an agent. */
  readonly position: Position;
  /** Id of the object it is about: events of one subject are forwarded one after the other. */
  readonly subject: string;
}

/** Result of one attempt to forward an event. */
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
  /** A connection to a webhook broke off or brought no answer: the event is sent once more. */
  readonly repeats: (result: ForwardResult) => void;
}

const IN_FLIGHT = 16;
/** Events that may wait in memory at once. */
const MAX_WAITING = 10_000;
/** The ids that are remembered of events that are done: more than a stream repeats after it was interrupted. */
export const KEPT_IDS = 200;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;
/**
 * Maximum attempts for an event that a webhook takes and does not answer: one that crashes the webhook each time must not hold up others.
 */
export const MAX_UNANSWERED = 5;

/** The place of an event in the stream. */
interface Place {
  readonly position: Position;
  done: boolean;
}

/** The attempts at one URL, and the events that wait for one to end. */
interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Forwards events to local webhooks: those of one subject in their order, and 16 at a time to each URL, so that a URL where nothing listens
 * holds no other one up. An event to which nothing listens is tried until something does; one that is answered, whatever the answer, is done.
 * A webhook that restarts, hangs or sleeps while it has the request answers nothing. A URL that cannot be reached in principle, such as one
 * whose certificate is not trusted, fails at once, so that its cause is seen.
 *
 * | event          | attempt answered, or impossible | nothing listens        | taken, not answered                   | the program ends |
 * | -------------- | ------------------------------- | ---------------------- | ------------------------------------- | ---------------- |
 * | waits its turn | –                               | –                      | –                                     | not forwarded    |
 * | under way      | done                            | again, after some time | again as a further attempt; the fifth | not forwarded    |
 * |                |                                 |                        | time done                             |                  |
 */
export class Forwarder {
  readonly #parts: ForwarderParts;
  /** The last event of each subject that is not done, by URL and subject. */
  readonly #subjects = new Map<string, Promise<void>>();
  /** The URLs that events go to. */
  readonly #lanes = new Map<string, Lane>();
  /** The places of events from the first one that is not done, in their order. */
  readonly #open: Place[] = [];
  /** The ids of the last events that are done. */
  readonly #done: string[] = [];
  #position: Position | null = null;
  #waiting = 0;
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
    const url = this.#parts.findUrl(event.type);
    const place: Place = { position: event.position, done: false };
    this.#open.push(place);
    if (url === null) return this.#finish(event, place);
    const key = `${url} ${event.subject}`;
    const before = this.#subjects.get(key) ?? Promise.resolve();
    this.#waiting += 1;
    const done = before
      .then(async () => {
        if (await this.#forward(event, url)) this.#finish(event, place);
      })
      .finally(() => {
        if (this.#subjects.get(key) === done) this.#subjects.delete(key);
        this.#waiting -= 1;
        this.#freed?.();
      });
    // An error is thrown by `settle`.
    done.catch(() => {});
    this.#subjects.set(key, done);
    while (this.#waiting >= MAX_WAITING && !this.#parts.signal.aborted) await new Promise<void>((free) => (this.#freed = free));
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

  #finish({ id }: ForwardedEvent, place: Place): void {
    place.done = true;
    this.#done.push(id);
    if (this.#done.length > KEPT_IDS) this.#done.shift();
    while (this.#open[0]?.done) this.#position = this.#open.shift()?.position ?? this.#position;
  }

  /** False if the program ends before the event is done. */
  async #forward(event: ForwardedEvent, url: string): Promise<boolean> {
    const lane = this.#lanes.get(url) ?? { running: 0, waiting: [] };
    this.#lanes.set(url, lane);
    while (lane.running >= IN_FLIGHT) await new Promise<void>((free) => lane.waiting.push(free));
    lane.running += 1;
    try {
      return await this.#try(event, url);
    } finally {
      lane.running -= 1;
      lane.waiting.shift()?.();
    }
  }

  async #try(event: ForwardedEvent, url: string): Promise<boolean> {
    const { signal, sleep, waits, repeats } = this.#parts;
    let attempt = 1;
    for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      const result = { event, ...(await attemptDelivery(event, url, this.#parts, attempt)) };
      if (result.status === null && signal.aborted) return false;
      if (result.failed === "absent") waits(url);
      else if (result.failed !== "unanswered" || attempt === MAX_UNANSWERED) {
        await this.#conclude(result);
        return true;
      } else {
        repeats(result);
        attempt += 1;
      }
      await sleep(wait, signal);
    }
    return false;
  }

  async #conclude(result: ForwardResult): Promise<void> {
    this.#last = result;
    await this.#parts.report(result);
  }
}
