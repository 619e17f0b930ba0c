import { createHash } from "node:crypto";
import { UsageError } from "./errors.ts";
import { assertJson } from "./json.ts";
import type { Report } from "./reports.ts";
import { currentTime } from "./runtime.ts";
import type { Store } from "./stores/store.ts";

/** Argument of a step's work. */
export interface Step {
  /** The same on every repetition of this step, and of no other one: for services that accept such a key. At most 64 characters. */
  readonly idempotencyKey: string;
}

/** Each kind has its own name space. */
export type StepKind = "step" | "approval" | "approval-request" | "credits" | "wakeup" | "wakeup-request";

/** Something in a run that happens once. */
export interface StepId {
  readonly kind: StepKind;
  /** The name as given, and for its second and later uses in a pass their number: `list`, `list#2`. */
  readonly name: string;
  /** The steps it is inside of; empty for the work itself. Names inside of a step have a name space of their own. */
  readonly inside: string;
}

/** The state of a run when one of its steps is done. */
interface Moment {
  /** The time that the run has worked so far, ms. */
  readonly workedMs: number;
  /** Reports made inside of the step that may not have arrived. */
  readonly unconfirmed: readonly Report[];
}

/** A step as it is stored: its result, that moment, and how long it is kept (ms since 1970). */
interface Entry extends Moment {
  readonly value: unknown;
  readonly until: number;
}

const NAME = /^[\w.:-]{1,100}$/;
/** A run may wait for a month before it looks at its results again. */
export const LONGEST_WAIT_MS = 31 * 86_400_000;

/**
 * The results of the steps of one run, an entry of the store each. A crash between the end of the work and the writing of its result repeats the
 * work, as no store can be part of a foreign transaction: pass `idempotencyKey` to what the work calls.
 */
export class Steps {
  readonly #store: Store;
  readonly #key: string;
  readonly #keepMs: number;
  /** Number of uses of each name in this pass, and the names at work. */
  readonly #uses = new Map<string, number>();
  readonly #open = new Set<string>();

  constructor(store: Store, key: string, keepMs: number) {
    this.#store = store;
    this.#key = key;
    this.#keepMs = keepMs;
  }

  /**
   * Gives a name its number and performs `work` with it. Throws UsageError for a name that is used again while its first use is at work: which of
   * the two came first could differ in a repetition.
   */
  async named<T>(kind: StepKind, name: string, inside: string, work: (id: StepId) => Promise<T>): Promise<T> {
    if (!NAME.test(name)) throw new UsageError(`The ${kind} "${name}" needs a name of 1 to 100 letters, digits and . _ : -`);
    const label = labelOf({ kind, name, inside });
    if (this.#open.has(label))
      throw new UsageError(
        `The ${kind} "${name}" is at work already: what happens at the same time needs names of its own, such as "${name}-2".`,
      );
    const use = (this.#uses.get(label) ?? 0) + 1;
    this.#uses.set(label, use);
    this.#open.add(label);
    try {
      return await work({ kind, name: use === 1 ? name : `${name}#${use}`, inside });
    } finally {
      this.#open.delete(label);
    }
  }

  /** Does the work of a step unless it is done, and returns its result and the moment. Throws UsageError for a result that JSON cannot carry. */
  async once<T>(id: StepId, look: () => Moment, work: (step: Step) => Promise<T>): Promise<{ value: T } & Moment> {
    const key = `${this.#key}/${labelOf(id)}`;
    const known = await this.#store.get(key);
    if (known !== null) return this.#refreshed(key, known) as Promise<{ value: T } & Moment>;
    const value = (await work({ idempotencyKey: createHash("sha256").update(key).digest("hex").slice(0, 40) })) ?? null;
    assertJson(value, `The result of the ${id.kind} "${id.name}"`);
    // The first result counts, also one of another process.
    const text = this.#toText({ value, ...look() });
    const isFirst = await this.#store.swap(key, null, text, this.#ttlMs);
    return parse(isFirst ? text : ((await this.#store.get(key)) ?? text)) as { value: T } & Moment;
  }

  /** A stored result, kept for as long as a new one if its time is near: a run may wait again and again. */
  async #refreshed(key: string, text: string): Promise<Entry> {
    const entry = parse(text);
    if (entry.until - currentTime() < this.#keepMs) await this.#store.swap(key, text, this.#toText(entry), this.#ttlMs);
    return entry;
  }

  #toText(entry: { value: unknown } & Moment): string {
    return JSON.stringify({ ...entry, until: currentTime() + this.#ttlMs });
  }

  get #ttlMs(): number {
    return this.#keepMs + LONGEST_WAIT_MS;
  }
}

/** The name of a step in its run. */
export function labelOf({ kind, name, inside }: StepId): string {
  return `${inside}${kind}/${name}`;
}

function parse(text: string): Entry {
  return JSON.parse(text) as Entry;
}
