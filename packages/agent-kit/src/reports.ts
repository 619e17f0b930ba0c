/** An entry of a run's log. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly data?: unknown;
  readonly at: string;
}

/** The place at which a report was made, and its number there. */
export interface Mark {
  readonly place: string;
  readonly number: number;
}

/** A report of a run to the service: an entry of its log, its progress, or its checkpoint. */
export type Report = { readonly mark: Mark } & (
  | { readonly entry: LogEntry }
  | { readonly progress: { percent: number; label?: string | undefined } }
  | { readonly checkpoint: unknown }
);

/** A call with reports. It is repeated as it is until the service has answered it. */
interface Batch {
  readonly seq: number;
  readonly reports: readonly Report[];
  isPrepared: boolean;
}

// The service takes 50 entries with a call.
const MAX_ENTRIES = 50;
// Reports that are kept while the service cannot be reached.
const MAX_BUFFERED = 1000;

/** The reports of a run, in calls whose `seq` rises by one. */
export class Reports {
  readonly #prepare: (seq: number, reports: readonly Report[]) => Promise<void>;
  #seq: number;
  #queue: Report[] = [];
  #batch: Batch | null = null;

  /** `logSequence`: the `seq` of the last call. `prepare` stores what a call is about to report, before it is made. */
  constructor(logSequence: number, prepare: (seq: number, reports: readonly Report[]) => Promise<void>) {
    this.#seq = logSequence;
    this.#prepare = prepare;
  }

  get hasNews(): boolean {
    return this.#batch !== null || this.#queue.length > 0;
  }

  /** True if there is more than a call takes. */
  get isFull(): boolean {
    return this.#queue.length >= MAX_ENTRIES;
  }

  add(report: Report): void {
    if (this.#queue.length < MAX_BUFFERED) this.#queue.push(report);
  }

  /** The fields of the next call; none without news. */
  async take() {
    if (this.#batch === null && this.#queue.length > 0) {
      this.#seq += 1;
      this.#batch = { seq: this.#seq, reports: this.#queue.slice(0, MAX_ENTRIES), isPrepared: false };
      this.#queue = this.#queue.slice(MAX_ENTRIES);
    }
    const batch = this.#batch;
    if (batch === null) return {};
    if (!batch.isPrepared) await this.#prepare(batch.seq, batch.reports);
    batch.isPrepared = true;
    return { seq: batch.seq, ...merge(batch.reports) };
  }

  /** The service has answered the call that was taken last. */
  confirm(): void {
    if (this.#batch?.isPrepared) this.#batch = null;
  }

  /** Reports made inside of a step that the service has not confirmed yet. */
  listUnconfirmed(inside: string): readonly Report[] {
    return [...(this.#batch?.reports ?? []), ...this.#queue].filter(({ mark }) => mark.place.startsWith(inside));
  }
}

/** The fields of a call: all entries, and the last progress and checkpoint. */
function merge(reports: readonly Report[]) {
  const { entry: _, ...last } = Object.assign({}, ...reports) as {
    entry?: LogEntry;
    mark?: Mark;
    progress?: { percent: number };
    checkpoint?: unknown;
  };
  const { mark: _mark, ...fields } = last;
  return { ...fields, entries: reports.flatMap((report) => ("entry" in report ? [report.entry] : [])) };
}
