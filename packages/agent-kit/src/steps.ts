import { createHash } from "node:crypto";
import { UsageError } from "./errors.ts";
import { assertJson } from "./json.ts";
import { type Store, update } from "./stores/store.ts";

/** What the work of a step gets. */
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
}

/** What is stored of a run: the results of its steps, its checkpoint, and how long its work has taken, ms. */
interface Journal {
  readonly steps: Readonly<Record<string, unknown>>;
  readonly checkpoint: unknown;
  readonly workedMs: number;
}

const NAME = /^[\w.:-]{1,100}$/;

/**
 * The steps of one run that are done, and its checkpoint. A crash between the end of the work and the writing of its result repeats the
 * work, as no store can be part of a foreign transaction: pass `idempotencyKey` to what the work calls.
 */
export class Steps {
  readonly #store: Store;
  readonly #key: string;
  readonly #keepMs: number;
  readonly #total: number;
  /** How often each name was used in this pass, and which of them are at work. */
  readonly #uses = new Map<string, number>();
  readonly #open = new Set<string>();
  readonly #replayed = new Set<string>();
  #caughtUp = false;
  #journal: Journal;
  #lastWrite: Promise<void> = Promise.resolve();

  private constructor(store: Store, key: string, keepMs: number, journal: Journal) {
    this.#store = store;
    this.#key = key;
    this.#keepMs = keepMs;
    this.#journal = journal;
    // The request of an answered question is not looked at again.
    this.#total = Object.keys(journal.steps).filter(
      (label) => !Object.hasOwn(journal.steps, label.replace("-request/", "/")) || !label.includes("-request/"),
    ).length;
  }

  static async load(store: Store, run: string, keepMs: number): Promise<Steps> {
    const key = `run/${run}`;
    return new Steps(store, key, keepMs, parse(await store.get(key)));
  }

  /** Whether the work is being repeated and has not yet come to where the crash was, as far as its steps tell. */
  get isReplaying(): boolean {
    return !this.#caughtUp && this.#replayed.size < this.#total;
  }

  get checkpoint(): unknown {
    return this.#journal.checkpoint;
  }

  /** How long the work had taken when the last step was stored. */
  get workedMs(): number {
    return this.#journal.workedMs;
  }

  /**
   * Gives a name its number and performs `work` with it. Throws UsageError for a name that is used again while its first use is at work: which of
   * the two came first could differ in a repetition.
   */
  async named<T>(kind: StepKind, name: string, work: (id: StepId) => Promise<T>): Promise<T> {
    if (!NAME.test(name)) throw new UsageError(`The ${kind} "${name}" needs a name of 1 to 100 letters, digits and . _ : -`);
    const label = `${kind}/${name}`;
    if (this.#open.has(label))
      throw new UsageError(
        `The ${kind} "${name}" is at work already: what happens at the same time needs names of its own, such as "${name}-2".`,
      );
    const use = (this.#uses.get(label) ?? 0) + 1;
    this.#uses.set(label, use);
    this.#open.add(label);
    try {
      return await work({ kind, name: use === 1 ? name : `${name}#${use}` });
    } finally {
      this.#open.delete(label);
    }
  }

  /** Whether the step was done in this pass or an earlier one. */
  isDone({ kind, name }: StepId): boolean {
    return Object.hasOwn(this.#journal.steps, `${kind}/${name}`);
  }

  /**
   * Does the work of a step unless it is done, and returns its result. `worked` says how long the run has worked so far. Throws UsageError
   * for a result that JSON cannot carry.
   */
  async once<T>({ kind, name }: StepId, worked: () => number, work: (step: Step) => Promise<T>): Promise<T> {
    const label = `${kind}/${name}`;
    if (this.isDone({ kind, name })) this.#replayed.add(label);
    else {
      this.#caughtUp = true;
      const value =
        (await work({ idempotencyKey: createHash("sha256").update(`${this.#key}/${label}`).digest("hex").slice(0, 40) })) ?? null;
      assertJson(value, `The result of the ${kind} "${name}"`);
      // The first result counts, also one of another process.
      await this.#write((stored) => ({ ...stored, steps: { [label]: value, ...stored.steps }, workedMs: worked() }));
    }
    return this.#journal.steps[label] as T;
  }

  async setCheckpoint(value: unknown, worked: () => number): Promise<void> {
    assertJson(value, "The checkpoint");
    await this.#write((stored) => ({ ...stored, checkpoint: value ?? null, workedMs: worked() }));
  }

  /**
   * Changes the journal as it is stored now: two processes may have the run for a moment. The journal keeps what the next process would read.
   * One write at a time, so that none brings back what was before another.
   */
  #write(change: (stored: Journal) => Journal): Promise<void> {
    const write = async (): Promise<void> => {
      let text = "";
      await update(this.#store, this.#key, (stored) => {
        text = JSON.stringify(change(parse(stored)));
        return { to: text, ttlMs: this.#keepMs };
      });
      this.#journal = parse(text);
    };
    const written = this.#lastWrite.then(write, write);
    this.#lastWrite = written;
    return written;
  }
}

function parse(text: string | null): Journal {
  return text === null ? { steps: {}, checkpoint: null, workedMs: 0 } : (JSON.parse(text) as Journal);
}
