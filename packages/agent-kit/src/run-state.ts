import type { Mark, Report } from "./reports.ts";
import { LONGEST_WAIT_MS } from "./steps.ts";
import { type Store, update } from "./stores/store.ts";

/** The number of reports of each kind that a pass has made, by the step they are inside of. */
type Counts = Readonly<Record<string, number>>;

/** Reports up to a log call, by the `seq` of that call. */
interface Reported {
  readonly seq: number;
  readonly counts: Counts;
}

/** The part of a run that is stored besides the results of its steps. */
interface State {
  readonly checkpoint: { readonly value: unknown; readonly counts: Counts; readonly unconfirmed: readonly Report[] } | null;
  /** The last log call that was prepared, and the one before it: the service knows which of them it has got. */
  readonly reported: Reported;
  readonly before: Reported;
  readonly workedMs: number;
}

const NOTHING: Reported = { seq: 0, counts: {} };
const NEW: State = { checkpoint: null, reported: NOTHING, before: NOTHING, workedMs: 0 };

/**
 * The checkpoint of a run, and what it has reported. The reports of a pass are counted by kind and place, so that a repetition reports what
 * is new and nothing twice: an entry inside of a step that is done, or skipped, shifts no other.
 */
export class RunState {
  readonly #store: Store;
  readonly #key: string;
  readonly #ttlMs: number;
  readonly #calls = new Map<string, number>();
  #state: State;
  /** Reports that the service has got, and those on their way to it. */
  readonly #known: Map<string, number>;
  readonly #queued: Map<string, number>;
  #lastWrite: Promise<void> = Promise.resolve();

  private constructor(store: Store, key: string, keepMs: number, state: State, logSequence: number) {
    this.#store = store;
    this.#key = key;
    this.#ttlMs = keepMs + LONGEST_WAIT_MS;
    this.#state = state;
    const { reported, before } = state;
    this.#known = new Map(Object.entries((reported.seq <= logSequence ? reported : before).counts));
    this.#queued = new Map(this.#known);
  }

  /** `logSequence`: the `seq` of the last log call that the service has got. */
  static async load(store: Store, key: string, keepMs: number, logSequence: number): Promise<RunState> {
    return new RunState(store, key, keepMs, parse(await store.get(key)), logSequence);
  }

  /** The time that the work had taken when that was stored. */
  get workedMs(): number {
    return this.#state.workedMs;
  }

  /**
   * The checkpoint, and what was reported before it and may not have arrived. Work that looks at it goes on from there, so its next reports are
   * those that followed.
   */
  readCheckpoint(): { readonly value: unknown; readonly unconfirmed: readonly Report[] } {
    const { checkpoint } = this.#state;
    if (checkpoint === null) return { value: null, unconfirmed: [] };
    for (const [place, count] of Object.entries(checkpoint.counts)) this.#calls.set(place, Math.max(count, this.#calls.get(place) ?? 0));
    return checkpoint;
  }

  async setCheckpoint(value: unknown, unconfirmed: readonly Report[], workedMs: number): Promise<void> {
    const checkpoint = { value: value ?? null, counts: Object.fromEntries(this.#calls), unconfirmed };
    await this.#write((stored) => ({ ...stored, checkpoint, workedMs }));
  }

  /** The next report of a place. */
  count(place: string): Mark {
    const number = (this.#calls.get(place) ?? 0) + 1;
    this.#calls.set(place, number);
    return { place, number };
  }

  /** True if a report is to be made: neither this pass nor an earlier one has made it. From then on it counts as made. */
  claim({ place, number }: Mark): boolean {
    if (number <= (this.#queued.get(place) ?? 0)) return false;
    this.#queued.set(place, number);
    return true;
  }

  /** Stores what a log call is about to report. */
  async prepare(seq: number, reports: readonly Report[]): Promise<void> {
    const before = { seq: seq - 1, counts: Object.fromEntries(this.#known) };
    for (const { mark } of reports) this.#known.set(mark.place, mark.number);
    const reported = { seq, counts: Object.fromEntries(this.#known) };
    await this.#write((stored) => ({ ...stored, before, reported }));
  }

  /** A step is done, will not run again, and all that was reported inside of it has arrived: nothing of that is counted any more. */
  forget(inside: string): void {
    for (const counts of [this.#calls, this.#known]) for (const place of counts.keys()) if (place.startsWith(inside)) counts.delete(place);
  }

  setWorked(workedMs: number): Promise<void> {
    return this.#write((stored) => ({ ...stored, workedMs }));
  }

  /** Changes the state as it is stored now: two processes may have the run for a moment. One write at a time. */
  #write(change: (stored: State) => State): Promise<void> {
    const write = async (): Promise<void> => {
      let text = "";
      await update(this.#store, this.#key, (stored) => {
        text = JSON.stringify(change(parse(stored)));
        return { to: text, ttlMs: this.#ttlMs };
      });
      this.#state = parse(text);
    };
    const written = this.#lastWrite.then(write, write);
    this.#lastWrite = written.catch(() => {});
    return written;
  }
}

function parse(text: string | null): State {
  return text === null ? NEW : (JSON.parse(text) as State);
}
