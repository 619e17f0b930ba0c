import type { HandledEvent, UnknownEvent } from "./event.ts";
import { type AgentClock, randomToken } from "./runtime.ts";
import type { Store } from "./stores/store.ts";

/** How many milliseconds a claim lasts without renewal, and how long finished events are remembered. */
export interface EventLogOptions {
  store: Store;
  clock: AgentClock;
  leaseMs: number;
  keepMs: number;
}

interface Entry {
  readonly state: "claimed" | "stored" | "parked" | "dead" | "done";
  /** Claimed: when the claim ends. Stored: when it may be taken. */
  readonly due: number;
  /** Makes the entries of two owners differ. */
  readonly token: string;
  readonly attempts: number;
  readonly event: HandledEvent | UnknownEvent | null;
  /** Of a dead entry: its last error. */
  readonly error?: string;
}

/** An event that this process works on. Each method returns false when another process has taken over in the meantime. */
export interface Lease {
  readonly key: string;
  readonly event: HandledEvent | UnknownEvent | null;
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
  /** Gives up. */
  bury(error: string): Promise<boolean>;
}

/** The events an agent has received, each once. */
export interface EventLog {
  /** Whether an event is known: a repeat then. */
  has(key: string): Promise<boolean>;
  /** Claims an event whose delivery waits for the handlers. */
  claim(key: string, event: HandledEvent | UnknownEvent): Promise<Lease | "busy" | "done">;
  /** Stores an event to be worked on later; false when it is known. */
  put(key: string, event: HandledEvent | UnknownEvent): Promise<boolean>;
  /** Takes a stored event that is due; null when it is not, or no longer stored. */
  take(key: string): Promise<Lease | null>;
  /** The stored events, and the time each is due. */
  listStored(): Promise<{ key: string; due: number }[]>;
  /** Makes the parked events of an activation due. Returns how many. */
  wake(activationId: string): Promise<number>;
}

const PREFIX = "event/";

/**
 * The log of events over a store. Every step is one atomic swap, so any number of processes can share it:
 *
 *   state              | step     | next
 *   -------------------|----------|------------------------------------------------------------
 *   none               | claim    | claimed, until the lease ends
 *   claimed            | claim    | busy; after its lease: claimed by the new owner
 *   claimed            | complete | done
 *   claimed            | release  | none
 *   claimed            | park     | parked
 *   none               | put      | stored, due now
 *   stored, due        | take     | stored, due when the lease ends
 *   stored             | complete | done
 *   stored             | retry    | stored, due later
 *   stored             | park     | parked
 *   parked             | wake     | stored, due now
 *   stored             | bury     | dead
 *   done, dead, parked | claim    | done
 *   any but none       | put      | unchanged
 *
 * A crash leaves an event claimed or stored; the end of its lease makes it available again.
 */
export function createEventLog({ store, clock, leaseMs, keepMs }: EventLogOptions): EventLog {
  const read = async (key: string): Promise<[text: string | null, entry: Entry | null]> => {
    const text = await store.get(PREFIX + key);
    return [text, text === null ? null : (JSON.parse(text) as Entry)];
  };

  const leaseOf = (key: string, first: string): Lease => {
    let text = first;
    const entry = JSON.parse(first) as Entry;
    let last: Promise<unknown> = Promise.resolve();
    // One after the other, so that a renewal under way does not make the end of the work look like a takeover.
    const move = (to: Entry | null, ttlMs?: number): Promise<boolean> => {
      const step = async (): Promise<boolean> => {
        const next = to === null ? null : JSON.stringify(to);
        const moved = await store.swap(PREFIX + key, text, next, ttlMs);
        if (moved && next !== null) text = next;
        return moved;
      };
      const result = last.then(step, step);
      last = result.catch(() => {});
      return result;
    };
    const stored = (due: number, attempts: number): Entry => ({ ...entry, state: "stored", due, attempts, token: randomToken() });
    return {
      key,
      event: entry.event,
      attempts: entry.attempts,
      renew: () => move({ ...entry, due: clock.now() + leaseMs }, entry.state === "claimed" ? keepMs : undefined),
      complete: () => move({ ...entry, state: "done", event: null }, keepMs),
      release: () => move(null),
      retry: (ms, failed) => move(stored(clock.now() + ms, entry.attempts + (failed ? 1 : 0))),
      park: () => move({ ...entry, state: "parked" }),
      bury: (error) => move({ ...entry, state: "dead", error }, keepMs),
    };
  };

  return {
    has: async (key) => (await store.get(PREFIX + key)) !== null,
    claim: async (key, event) => {
      for (;;) {
        const [text, entry] = await read(key);
        if (entry !== null && entry.state !== "claimed") return "done";
        if (entry !== null && entry.due > clock.now()) return "busy";
        const claimed: Entry = { state: "claimed", due: clock.now() + leaseMs, token: randomToken(), attempts: 0, event };
        const next = JSON.stringify(claimed);
        if (await store.swap(PREFIX + key, text, next, keepMs)) return leaseOf(key, next);
      }
    },
    put: (key, event) => {
      const entry: Entry = { state: "stored", due: clock.now(), token: randomToken(), attempts: 0, event };
      return store.swap(PREFIX + key, null, JSON.stringify(entry));
    },
    take: async (key) => {
      const [text, entry] = await read(key);
      if (text === null || entry?.state !== "stored" || entry.due > clock.now()) return null;
      const next = JSON.stringify({ ...entry, due: clock.now() + leaseMs, token: randomToken() });
      return (await store.swap(PREFIX + key, text, next)) ? leaseOf(key, next) : null;
    },
    listStored: async () => {
      const keys = await store.list(PREFIX);
      const entries = await Promise.all(
        keys.map(async (name) => ({ key: name.slice(PREFIX.length), entry: (await read(name.slice(PREFIX.length)))[1] })),
      );
      return entries.flatMap(({ key, entry }) => (entry?.state === "stored" ? [{ key, due: entry.due }] : []));
    },
    wake: async (activationId) => {
      let woken = 0;
      for (const name of await store.list(PREFIX)) {
        const [text, entry] = await read(name.slice(PREFIX.length));
        if (entry?.state !== "parked" || entry.event?.activationId !== activationId) continue;
        if (await store.swap(name, text, JSON.stringify({ ...entry, state: "stored", due: clock.now() }))) woken += 1;
      }
      return woken;
    },
  };
}
