/** A run that this process works on, and the key of its event. */
interface RegisteredRun {
  readonly activationId: string;
  readonly runId: string;
  readonly key: string;
}

/** The runs that this process works on, so that events and errors can end them. */
export class RunRegistry {
  readonly #runs = new Map<RegisteredRun, (reason: Error) => void>();

  /** Returns how to remove the run again. */
  add(run: RegisteredRun, abort: (reason: Error) => void): () => void {
    this.#runs.set(run, abort);
    return () => void this.#runs.delete(run);
  }

  /** Ends the runs that have all of these fields. */
  abort(which: Partial<RegisteredRun>, reason: (runId: string) => Error): void {
    const fields = Object.keys(which) as (keyof RegisteredRun)[];
    for (const [run, abort] of this.#runs) if (fields.every((field) => run[field] === which[field])) abort(reason(run.runId));
  }
}
