import { closeSync, openSync, writeSync } from "node:fs";
import { formatLine } from "@mailsvc/sdk/contact-files";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";

/** Kinds of what is moved, in the order in which they are. */
export const PARTS = ["lists", "suppressions", "people", "memberships", "templates"] as const;
export type Part = (typeof PARTS)[number];

/** Ends of a row. `leftOut`: on purpose, such as the membership of a person who left the list here. */
export const OUTCOMES = ["added", "changed", "unchanged", "leftOut", "failed"] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Numbers of one part. `read` is counted where rows are read, the others where they end. */
type Sums = Record<"read" | Outcome, number>;

/** A reason for which rows were left out or failed. */
interface Reason {
  readonly part: Part;
  readonly outcome: "leftOut" | "failed";
  readonly reason: string;
  count: number;
  /** Places of the first of them. */
  readonly examples: string[];
}

const EXAMPLES = 3;

/** Counts each row that is read and how it ends. */
export class Tally {
  readonly sums: Record<Part, Sums>;
  readonly #reasons = new Map<string, Reason>();
  readonly #file: ErrorsFile | null;

  constructor(file: ErrorsFile | null) {
    this.#file = file;
    this.sums = Object.fromEntries(
      PARTS.map((part) => [part, { read: 0, added: 0, changed: 0, unchanged: 0, leftOut: 0, failed: 0 }]),
    ) as Record<Part, Sums>;
  }

  read(part: Part, rows = 1): void {
    this.sums[part].read += rows;
  }

  count(part: Part, outcome: Exclude<Outcome, "leftOut" | "failed">, rows = 1): void {
    this.sums[part][outcome] += rows;
  }

  /** Counts a row that was not moved. `name` is what it is about, such as its address. */
  refuse(part: Part, outcome: "leftOut" | "failed", { at, name }: { at: string; name: string }, reason: string): void {
    this.sums[part][outcome] += 1;
    const key = `${part} ${outcome} ${reason}`;
    const known = this.#reasons.get(key) ?? { part, outcome, reason, count: 0, examples: [] };
    this.#reasons.set(key, known);
    known.count += 1;
    if (known.examples.length < EXAMPLES) known.examples.push(at);
    this.#file?.write([part, outcome === "failed" ? "failed" : "left out", at, name, reason]);
  }

  /** The reasons, the most frequent ones first. */
  reasons(): readonly Reason[] {
    return [...this.#reasons.values()].sort((a, b) => b.count - a.count);
  }

  /** Number of rows that were read and have not ended. */
  open(): number {
    return PARTS.reduce((sum, part) => sum + this.sums[part].read - OUTCOMES.reduce((n, outcome) => n + this.sums[part][outcome], 0), 0);
  }

  /** Throws CliError if a row that was read has not ended, or has ended twice. */
  assertWhole(): void {
    for (const part of PARTS) {
      const sums = this.sums[part];
      const ended = OUTCOMES.reduce((n, outcome) => n + sums[outcome], 0);
      if (ended !== sums.read)
        throw new CliError({
          code: "internal_error",
          message: `${sums.read} ${part} were read, and ${ended} are accounted for.`,
          exit: EXIT.internal,
          hint: "This is a bug in mailsvc. What was moved stays; running the command again is safe.",
        });
    }
  }
}

/** A CSV file of the rows that were not moved. */
export class ErrorsFile {
  readonly #file: number;

  /** Throws CliError. */
  constructor(path: string) {
    try {
      this.#file = openSync(path, "w", 0o600);
    } catch (error) {
      throw usageError(`--errors-file: ${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
    }
    this.write(["kind", "outcome", "place", "name", "reason"]);
  }

  write(cells: readonly string[]): void {
    writeSync(this.#file, formatLine(cells));
  }

  close(): void {
    closeSync(this.#file);
  }
}
