import { METRICS, type Metric, type Sum } from "./counting.ts";
import { groupOf, type ReceiverGroup } from "./receivers.ts";

// Times have a counter of their own, and machines are nobody.
const OUTCOMES: readonly Metric[] = METRICS.filter((metric) => metric !== "handOverMs" && !metric.startsWith("within"));

/** A number for Prometheus. */
interface CounterValue {
  readonly outcome: string;
  readonly receiver: ReceiverGroup;
  readonly value: number;
}

/** Counts what this process has read of events of mail, of all workspaces together. Mail of test keys is left out. */
export class MailCounters {
  readonly #values = new Map<ReceiverGroup, number[]>();

  /** Adds what was stored, once the transaction is committed. */
  add(sums: readonly Sum[]): void {
    for (const { place, quarters } of sums) {
      if (place.dimension !== "domain" || place.test) continue;
      const group = groupOf(place.value);
      const values = this.#values.get(group) ?? METRICS.map(() => 0);
      this.#values.set(group, values);
      for (const numbers of quarters.values()) for (const [i, n] of numbers.entries()) values[i] = (values[i] ?? 0) + n;
    }
  }

  /** Counts of mail, by outcome and group of receivers. */
  get outcomes(): readonly CounterValue[] {
    return [...this.#values].flatMap(([receiver, values]) =>
      OUTCOMES.map((metric) => ({ outcome: toSnake(metric), receiver, value: values[METRICS.indexOf(metric)] ?? 0 })),
    );
  }

  /** The seconds that mail waited for its hand-over, in all. */
  get handOverSeconds(): number {
    return [...this.#values.values()].reduce((sum, values) => sum + (values[METRICS.indexOf("handOverMs")] ?? 0) / 1000, 0);
  }
}

function toSnake(metric: Metric): string {
  return metric.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
