import type { AgentClock } from "./runtime.ts";

/** Limits of a run's work, in ms: its duration, and its silence. */
interface WorkLimitsOptions {
  readonly clock: AgentClock;
  readonly maxDurationMs: number;
  readonly maxSilenceMs: number;
  /** Duration of its work so far, in another process. */
  readonly workedMs: number;
  readonly onExceeded: (error: WorkLimitError) => void;
}

/** The work of a run took too long, or hangs. */
export class WorkLimitError extends Error {
  readonly code: "max_duration" | "max_silence";

  constructor(code: WorkLimitError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

// Time is looked at this often. A look that comes later by more than the gap tells of a machine that slept.
const TICK_MS = 60_000;
const GAP_MS = 30_000;

/** Ends work that takes too long or hangs. Time does not count while the work can only wait, nor while the machine sleeps. */
export class WorkLimits {
  readonly #options: WorkLimitsOptions;
  #workedMs: number;
  /** Since when time has counted; null while it stands still. */
  #since: number | null;
  #lastSign: number;
  /** Time of the next check. */
  #dueAt = Number.POSITIVE_INFINITY;
  #cancel = (): void => {};

  constructor(options: WorkLimitsOptions) {
    this.#options = options;
    this.#workedMs = options.workedMs;
    this.#since = this.#lastSign = options.clock.now();
    this.#plan();
  }

  /** Duration of its work so far, ms. */
  get workedMs(): number {
    this.#dropGap();
    return this.#workedMs + (this.#since === null ? 0 : this.#options.clock.now() - this.#since);
  }

  /** The work has done something. */
  touch(): void {
    this.#dropGap();
    this.#lastSign = this.#options.clock.now();
  }

  /** An earlier pass of the work had worked for so long, ms. */
  atLeast(workedMs: number): void {
    this.#workedMs += Math.max(0, workedMs - this.workedMs);
  }

  /** True if the work can only wait: its time stands still. */
  hold(isHeld: boolean): void {
    if (isHeld === (this.#since === null)) return;
    this.#workedMs = this.workedMs;
    this.#since = isHeld ? null : this.#options.clock.now();
    this.#lastSign = this.#options.clock.now();
    this.#plan();
  }

  stop(): void {
    this.#cancel();
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  #plan(): void {
    this.#cancel();
    this.#dueAt = Number.POSITIVE_INFINITY;
    if (this.#since === null) return;
    const { clock, maxDurationMs, maxSilenceMs } = this.#options;
    const left = Math.min(maxDurationMs - this.workedMs, this.#lastSign + maxSilenceMs - clock.now());
    if (left === Number.POSITIVE_INFINITY) return;
    const wait = Math.min(TICK_MS, Math.max(0, left));
    this.#dueAt = clock.now() + wait;
    this.#cancel = clock.after(wait, () => this.#judge());
  }

  /** Takes out the time by which the next look is late. */
  #dropGap(): void {
    const gap = this.#options.clock.now() - this.#dueAt;
    if (gap <= GAP_MS) return;
    if (this.#since !== null) this.#since += gap;
    this.#lastSign += gap;
    this.#dueAt += gap;
  }

  #judge(): void {
    const { clock, maxDurationMs, maxSilenceMs, onExceeded } = this.#options;
    this.#dropGap();
    const silentMs = clock.now() - this.#lastSign;
    if (this.workedMs >= maxDurationMs)
      onExceeded(new WorkLimitError("max_duration", `The run worked for longer than ${maxDurationMs / 1000} s (maxDurationMs).`));
    else if (silentMs >= maxSilenceMs) {
      const message = `The work gave no sign for ${maxSilenceMs / 1000} s: no step, log, progress, checkpoint or call (maxSilenceMs).`;
      onExceeded(new WorkLimitError("max_silence", message));
    } else this.#plan();
  }
}
