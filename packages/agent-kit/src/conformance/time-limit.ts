import { currentTime } from "../runtime.ts";
import type { ConformanceCase } from "./case.ts";
import { type CheckInput, sign } from "./requests.ts";

const DEFAULT_MS = 600_000;

/** Limits the time of a whole check, which a receiver that answers each request just in time would hold for very long. */
export class TimeLimit {
  readonly #ms: number;
  readonly #from = currentTime();

  /** `ms`: by default ten minutes. */
  constructor(ms = DEFAULT_MS) {
    this.#ms = ms;
  }

  /** Remaining time, ms; 0 when it is over. */
  get left(): number {
    return Math.max(0, this.#from + this.#ms - currentTime());
  }

  /** The case that fails when the time is over before all others are graded. */
  toCase({ secret, now, samples }: CheckInput): ConformanceCase {
    const slow = {
      mistake: "The work on an event is done before its answer.",
      fix: "Store the event, answer 2xx, and work afterwards. A longer time for the check, --time-limit, grades the rest.",
    };
    return {
      id: "time-limit",
      group: "robustness",
      title: `answers so quickly that the check ends within ${format(this.#ms)}`,
      about: "all requests of the check",
      expects: "accepted",
      advice: { slow },
      requests: [sign(JSON.stringify(samples.plain()), secret, now)],
    };
  }

  /** The reason for which a case was not graded. */
  get reason(): string {
    return `The time limit of the check, ${format(this.#ms)}, is over.`;
  }
}

function format(ms: number): string {
  const [count, unit] = ms % 60_000 === 0 ? [ms / 60_000, "minute"] : [ms / 1000, "second"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
