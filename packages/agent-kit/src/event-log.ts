import type { HandledEvent, UnknownEvent } from "./event.ts";
import { type AgentClock, randomToken } from "./runtime.ts";
import { LONGEST_WAIT_MS } from "./steps.ts";
import { type CheckedStore, update } from "./stores/store.ts";

/** Options of the event log: `leaseMs` is the life of a lease without renewal, `keepMs` the retention of finished events. */
interface EventLogOptions {
  readonly store: CheckedStore;
  /** Says when a failed event is due again; null: the clock of the store. Leases always go by the clock of the store. */
  readonly clock: AgentClock | null;
  readonly leaseMs: number;
  readonly keepMs: number;
}

type AnyEvent = HandledEvent | UnknownEvent;

interface Entry {
  readonly state: "claimed" | "stored" | "parked" | "waiting" | "dead" | "done";
  /** Earliest time of the next attempt; 0: at once. */
  readonly due: number;
  /** End of the lease of the process that works on it; 0: no lease. */
  readonly leasedUntil: number;
  /** Makes the entries of two owners differ. */
  readonly token: string;
  readonly attempts: number;
  readonly event: AnyEvent | null;
}

/** An event that was given up. */
export interface DeadEvent {
  readonly key: string;
  readonly event: AnyEvent;
  /** The error of its last attempt. */
  readonly error: string;
  /** Time it was given up, ms since 1970. */
  readonly at: number;
}

/** An event that this process works on. Each method returns false when another process has taken over in the meantime. */
export interface Lease {
  readonly key: string;
  readonly event: AnyEvent | null;
  /** Number of attempts that failed before. */
  readonly attempts: number;
  /** Keeps the event for another lease. */
  renew(): Promise<boolean>;
  /** The event is handled; repeats of it are skipped. */
  complete(): Promise<boolean>;
  /** Forgets that it was claimed, so that the next delivery is handled. For events that are not stored. */
  release(): Promise<boolean>;
  /** Stores it for another attempt in `ms`; `failed` counts the one that ended. */
  retry(ms: number, failed: boolean): Promise<boolean>;
  /** Stores it until `wake`. */
  park(): Promise<boolean>;
  /** Says for which answers it is about to wait: who stores one of them finds it by that. */
  announce(answerIds: readonly string[]): Promise<void>;
  /** Stores it until one of them: nobody looks at it meanwhile. */
  wait(): Promise<boolean>;
  /** Gives it up, until `revive`. */
  bury(error: string): Promise<boolean>;
}

const PREFIX = "event/";
const DEAD = "dead/";
/** The key of the event that waits for an answer. */
const WAIT = "wait/";

/**
 * The events an agent has received, each once, over a store. Every step is one atomic swap, so any number of processes can share it:
 *
 *   state              | step     | next
 *   -------------------|----------|------------------------------------------------------------
 *   none               | claim    | claimed, until the lease ends
 *   claimed            | claim    | busy; after its lease: claimed by the new owner
 *   claimed            | complete | done
 *   claimed            | release  | none
 *   claimed            | park     | parked
 *   claimed, stored    | wait     | waiting
 *   claimed            | retry    | stored, due later
 *   none               | put      | stored, due now
 *   stored, due        | take     | stored, leased
 *   stored             | complete | done
 *   stored             | retry    | stored, due later
 *   stored             | park     | parked
 *   stored, not leased | wake     | stored, due now
 *   parked             | wake     | stored, due now
 *   waiting, parked    | answered | stored, due now
 *   any, not leased    | resume   | claimed; not if it is done or dead
 *   stored             | bury     | dead
 *   dead               | revive   | stored, due now, with all its attempts
 *   any but claimed    | claim    | done
 *   any but none       | put      | unchanged
 *
 * A crash leaves an event claimed or stored; the end of its lease makes it available again. The clock of the store decides when that is,
 * so the clocks of the processes may differ.
 */
export class EventLog {
  readonly #store: CheckedStore;
  readonly #clock: AgentClock | null;
  readonly #leaseMs: number;
  readonly #keepMs: number;

  constructor({ store, clock, leaseMs, keepMs }: EventLogOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#keepMs = keepMs;
  }

  /** True if an event is known, so that another delivery is a repeat. */
  async has(key: string): Promise<boolean> {
    return (await this.#store.get(PREFIX + key)) !== null;
  }

  /** Claims an event whose delivery waits for the handlers. */
  async claim(key: string, event: AnyEvent): Promise<Lease | "busy" | "done"> {
    for (;;) {
      const [[text, entry], now] = await this.#read(key);
      if (entry !== null && entry.state !== "claimed") return "done";
      if (entry !== null && entry.leasedUntil > now) return "busy";
      const leasedUntil = now + this.#leaseMs;
      const next = toText({ state: "claimed", due: 0, leasedUntil, token: randomToken(), attempts: 0, event });
      if (await this.#store.swap(PREFIX + key, text, next, this.#waitMs)) return this.#leaseOf(key, next);
    }
  }

  /** Stores an event to be worked on later; false when it is known. */
  async put(key: string, event: AnyEvent): Promise<boolean> {
    return this.#store.swap(PREFIX + key, null, toText(newEntry(event)));
  }

  /** Takes a stored event. Otherwise the milliseconds until it is due, or null when it is leased, or not stored. */
  async take(key: string): Promise<Lease | number | null> {
    const [[text, entry], now] = await this.#read(key);
    if (text === null || entry?.state !== "stored" || entry.leasedUntil > now) return null;
    const wait = entry.due - this.#dueTime(now);
    if (wait > 0) return wait;
    const next = toText({ ...entry, leasedUntil: now + this.#leaseMs, token: randomToken() });
    return (await this.#store.swap(PREFIX + key, text, next)) ? this.#leaseOf(key, next) : null;
  }

  /** The stored events that can be taken now. */
  async listDue(): Promise<{ key: string; activationId: string }[]> {
    const now = await this.#store.now();
    const entries = await Promise.all(
      (await this.#store.list(PREFIX)).map(async (name) => ({ name, entry: parse(await this.#store.get(name)) })),
    );
    return entries.flatMap(({ name, entry }) =>
      entry?.state === "stored" && entry.leasedUntil <= now && entry.due <= this.#dueTime(now)
        ? [{ key: name.slice(PREFIX.length), activationId: entry.event?.activationId ?? "" }]
        : [],
    );
  }

  /** Makes the events of an activation due that are parked, or wait for another attempt. Returns how many. */
  async wake(activationId: string): Promise<number> {
    let woken = 0;
    for (const name of await this.#store.list(PREFIX)) {
      const [[text, entry], now] = await this.#read(name.slice(PREFIX.length));
      if (entry === null || !isWaking(entry, now) || entry.event?.activationId !== activationId) continue;
      if (await this.#store.swap(name, text, toText({ ...entry, state: "stored", due: 0 }))) woken += 1;
    }
    return woken;
  }

  /** The events that `wake` would make due. */
  async listWaking(activationId: string): Promise<string[]> {
    const keys: string[] = [];
    for (const name of await this.#store.list(PREFIX)) {
      const [[, entry], now] = await this.#read(name.slice(PREFIX.length));
      if (entry?.event?.activationId === activationId && isWaking(entry, now)) keys.push(name.slice(PREFIX.length));
    }
    return keys;
  }

  /** The key of the event that waits for an answer; null if none does. */
  findWaiting(answerId: string): Promise<string | null> {
    return this.#store.get(WAIT + answerId);
  }

  /** Makes an event due whose answer is there. `busy`: a process works on it, and may not have seen the answer. */
  async answered(key: string): Promise<"due" | "busy" | "gone"> {
    for (;;) {
      const [[text, entry], now] = await this.#read(key);
      if (entry === null || entry.state === "done" || entry.state === "dead") return "gone";
      if (entry.leasedUntil > now) return "busy";
      if (entry.state === "stored") return "due";
      if (entry.state === "claimed") return "gone";
      if (await this.#store.swap(PREFIX + key, text, toText({ ...entry, state: "stored", due: 0 }))) return "due";
    }
  }

  /** Claims an event that waits or is parked, or whose process has crashed. */
  async resume(key: string): Promise<Lease | "busy" | "gone"> {
    for (;;) {
      const [[text, entry], now] = await this.#read(key);
      if (entry === null || entry.state === "done" || entry.state === "dead") return "gone";
      if (entry.leasedUntil > now) return "busy";
      const next = toText({ ...entry, state: "claimed", due: 0, leasedUntil: now + this.#leaseMs, token: randomToken() });
      if (await this.#store.swap(PREFIX + key, text, next, this.#waitMs)) return this.#leaseOf(key, next);
    }
  }

  /** The events that were given up, oldest first. */
  async listDead(): Promise<DeadEvent[]> {
    const found: DeadEvent[] = [];
    for (const name of await this.#store.list(DEAD)) {
      const text = await this.#store.get(name);
      const [[, entry]] = await this.#read(name.slice(DEAD.length));
      // The list is written before the state, and removed after it.
      if (text !== null && entry?.state === "dead") found.push(JSON.parse(text) as DeadEvent);
      else if (entry === null) await this.#store.swap(name, text, null);
    }
    return found.sort((a, b) => a.at - b.at);
  }

  /** Makes a dead event due again; false if it is not dead. */
  async revive(key: string): Promise<boolean> {
    const [[text, entry]] = await this.#read(key);
    if (entry?.state !== "dead" || entry.event === null) return false;
    if (!(await this.#store.swap(PREFIX + key, text, toText(newEntry(entry.event))))) return false;
    await this.#store.swap(DEAD + key, await this.#store.get(DEAD + key), null);
    return true;
  }

  async #read(key: string): Promise<[[text: string | null, entry: Entry | null], now: number]> {
    const [text, now] = await Promise.all([this.#store.get(PREFIX + key), this.#store.now()]);
    return [[text, parse(text)], now];
  }

  /** The time for which waiting entries are kept: as long as the results of their steps. */
  get #waitMs(): number {
    return this.#keepMs + LONGEST_WAIT_MS;
  }

  #dueTime(storeTime: number): number {
    return this.#clock === null ? storeTime : this.#clock.now();
  }

  #leaseOf(key: string, text: string): Lease {
    const held = new HeldEntry(this.#store, key, text);
    const { entry } = held;
    const free = { due: 0, leasedUntil: 0 };
    return {
      key,
      event: entry.event,
      attempts: entry.attempts,
      renew: () =>
        held.move(async (now) => ({ ...entry, leasedUntil: now + this.#leaseMs }), entry.state === "claimed" ? this.#waitMs : undefined),
      complete: () => held.move(async () => ({ ...entry, ...free, state: "done", event: null }), this.#keepMs),
      release: () => held.move(async () => null),
      retry: (ms, failed) =>
        held.move(async (now) => {
          const attempts = entry.attempts + (failed ? 1 : 0);
          return { ...entry, state: "stored", due: this.#dueTime(now) + ms, leasedUntil: 0, attempts, token: randomToken() };
        }),
      park: () => held.move(async () => ({ ...entry, ...free, state: "parked" })),
      announce: async (answerIds) => {
        for (const id of answerIds) await update(this.#store, WAIT + id, () => ({ to: key, ttlMs: this.#waitMs }));
      },
      wait: () => held.move(async () => ({ ...entry, ...free, state: "waiting" }), this.#waitMs),
      bury: (error) =>
        held.move(async (now) => {
          const dead: DeadEvent = { key, event: entry.event as AnyEvent, error, at: this.#dueTime(now) };
          await this.#store.swap(DEAD + key, await this.#store.get(DEAD + key), JSON.stringify(dead));
          return { ...entry, ...free, state: "dead" };
        }, this.#keepMs),
    };
  }
}

/** The entry of an event as its owner last wrote it. */
class HeldEntry {
  readonly entry: Entry;
  readonly #store: CheckedStore;
  readonly #key: string;
  #text: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: CheckedStore, key: string, text: string) {
    this.#store = store;
    this.#key = key;
    this.#text = text;
    this.entry = JSON.parse(text) as Entry;
  }

  /** One after the other, so that a renewal under way does not make the end of the work look like a takeover. */
  move(change: (now: number) => Promise<Entry | null>, ttlMs?: number): Promise<boolean> {
    const step = async (): Promise<boolean> => {
      const entry = await change(await this.#store.now());
      const next = entry === null ? null : toText(entry);
      const moved = await this.#store.swap(PREFIX + this.#key, this.#text, next, ttlMs);
      if (moved && next !== null) this.#text = next;
      return moved;
    };
    const result = this.#last.then(step, step);
    this.#last = result.catch(() => {});
    return result;
  }
}

/** True if an entry waits for the end of a pause, a key or another attempt. */
function isWaking({ state, leasedUntil, due }: Entry, now: number): boolean {
  return state === "parked" || (state === "stored" && leasedUntil <= now && due > 0);
}

function newEntry(event: AnyEvent): Entry {
  return { state: "stored", due: 0, leasedUntil: 0, token: randomToken(), attempts: 0, event };
}

function toText(entry: Entry): string {
  return JSON.stringify(entry);
}

function parse(text: string | null): Entry | null {
  return text === null ? null : (JSON.parse(text) as Entry);
}
