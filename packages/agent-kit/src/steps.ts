import { createHash } from "node:crypto";
import { UsageError } from "./errors.ts";
import { type Store, update } from "./stores/store.ts";

/** What the work of a step gets. */
export interface Step {
  /** The same on every repetition of this step, and of no other one: for services that accept such a key. At most 64 characters. */
  readonly idempotencyKey: string;
}

/** The steps of a run that are done, and its checkpoint. */
export interface Steps {
  /** Does the work unless it is done, and returns its result. Two calls with one name share the work. */
  once<T>(name: string, work: (step: Step) => T | Promise<T>): Promise<T>;
  /** Whether the work is being repeated and has not yet come to where the crash was, as far as its steps tell. */
  isReplaying(): boolean;
  setCheckpoint(value: unknown): Promise<void>;
  readonly checkpoint: unknown;
}

/** What is stored of a run: the results of its steps by name, and its checkpoint. */
interface Journal {
  readonly steps: Readonly<Record<string, unknown>>;
  readonly checkpoint: unknown;
}

const NAME = /^[\w.:-]{1,100}$/;

/**
 * The steps of one run. A crash between the end of the work and the writing of its result repeats the work, as no store can be part of
 * a foreign transaction: pass `idempotencyKey` to what the work calls.
 */
export async function loadSteps(store: Store, run: string, keepMs: number): Promise<Steps> {
  const key = `run/${run}`;
  const running = new Map<string, Promise<unknown>>();
  const replayed = new Set<string>();
  let journal = parse(await store.get(key));
  const total = Object.keys(journal.steps).length;
  let caughtUp = false;

  /** Changes the journal as it is stored now: two processes may have the run for a moment. */
  const write = (change: (stored: Journal) => Journal): Promise<void> =>
    update(store, key, (text) => {
      journal = change(parse(text));
      return { to: JSON.stringify(journal), ttlMs: keepMs };
    });

  const perform = async <T>(name: string, work: (step: Step) => T | Promise<T>): Promise<T> => {
    if (Object.hasOwn(journal.steps, name)) {
      replayed.add(name);
      return journal.steps[name] as T;
    }
    caughtUp = true;
    const value = (await work({ idempotencyKey: createHash("sha256").update(`${key}/${name}`).digest("hex").slice(0, 40) })) ?? null;
    // As the next process would read it, so that both see the same. The first result counts.
    const result: unknown = JSON.parse(JSON.stringify(value));
    await write((stored) => ({ ...stored, steps: { [name]: result, ...stored.steps } }));
    return journal.steps[name] as T;
  };

  return {
    once: <T>(name: string, work: (step: Step) => T | Promise<T>) => {
      if (!NAME.test(name)) throw new UsageError(`The step "${name}" needs a name of 1 to 100 letters, digits and . _ : -`);
      const known = running.get(name) as Promise<T> | undefined;
      if (known) return known;
      const result = perform(name, work).finally(() => running.delete(name));
      running.set(name, result);
      return result;
    },
    isReplaying: () => !caughtUp && replayed.size < total,
    setCheckpoint: (value) => write((stored) => ({ ...stored, checkpoint: value })),
    get checkpoint() {
      return journal.checkpoint;
    },
  };
}

function parse(text: string | null): Journal {
  return text === null ? { steps: {}, checkpoint: null } : (JSON.parse(text) as Journal);
}
