/** One measured figure, as `--json` prints it. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** The peer or ceiling measured in the same run; null if there is none. */
  against: string | null;
  /** The figure divided by that of `against`. */
  ratio: number | null;
  /** The ratio, or without one the value, that is aimed at. */
  goal?: { op: ">=" | "<=" | "<"; than: number };
  /** The values of the single rounds behind the median. */
  rounds?: readonly number[];
}

/** Options of the command line. Only some benchmarks use them. */
interface BenchOptions {
  minutes: number;
  /** Requests a second. */
  rate: number;
  /** Rows of each large table. */
  rows: number;
}

/** A benchmark: some figures that are taken together. */
export interface Bench {
  name: string;
  /** An explanation of its figures in a sentence or two, printed below the table. */
  meaning: string;
  /** True for one that takes long: it runs only when it is named. */
  onlyByName?: true;
  run(options: BenchOptions): Promise<Figure[]>;
}

/** The middle value; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
}

/** True if a figure reaches its goal; null without one. */
export function reached({ value, ratio, goal }: Figure): boolean | null {
  if (!goal) return null;
  const is = ratio ?? value;
  return goal.op === ">=" ? is >= goal.than : goal.op === "<=" ? is <= goal.than : is < goal.than;
}
