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
  setCheckpoint(value: unknown): Promise<void>;
  getCheckpoint(): Promise<unknown>;
}

const NAME = /^[\w.:-]{1,100}$/;

/**
 * The steps of one run. A crash between the end of the work and the writing of its result repeats the work, as no store can be part of
 * a foreign transaction: pass `idempotencyKey` to what the work calls.
 */
export function createSteps(store: Store, run: string, keepMs: number): Steps {
  const running = new Map<string, Promise<unknown>>();
  const perform = async <T>(name: string, work: (step: Step) => T | Promise<T>): Promise<T> => {
    const key = `step/${run}/${name}`;
    const text = await store.get(key);
    if (text !== null) return (JSON.parse(text) as { value: T }).value;
    const idempotencyKey = createHash("sha256").update(key).digest("hex").slice(0, 40);
    const value = await work({ idempotencyKey });
    // As the next process would read it, so that both see the same.
    const stored = JSON.stringify({ value });
    await store.swap(key, null, stored, keepMs);
    return (JSON.parse(stored) as { value: T }).value;
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
    setCheckpoint: (value) => update(store, `checkpoint/${run}`, () => ({ to: JSON.stringify({ value }), ttlMs: keepMs })),
    getCheckpoint: async () => {
      const text = await store.get(`checkpoint/${run}`);
      return text === null ? null : (JSON.parse(text) as { value: unknown }).value;
    },
  };
}
