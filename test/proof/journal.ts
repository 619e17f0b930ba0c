import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

/** One finished step of a part of the proof. */
export interface Entry {
  readonly part: string;
  /** Its number within the part, from 0. */
  readonly step: number;
  /** The version that was tried. */
  readonly commit: string;
  readonly startedAt: string;
  readonly seconds: number;
  /** Counts of the step; parts add these up. */
  readonly counts: Readonly<Record<string, number>>;
  /** Rows of its own, such as one for each suite of kills. */
  readonly rows: readonly object[];
  /** Failures, in words; empty when all held. */
  readonly failures: readonly string[];
}

/** The finished steps, a line of JSON each: a run that was stopped goes on behind the last one. */
export class Journal {
  readonly #file: string;
  readonly #entries: Entry[];

  constructor(file: string) {
    this.#file = file;
    mkdirSync(dirname(file), { recursive: true });
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
    // A line that was cut off when the run was stopped is of a step that is done again.
    this.#entries = lines.filter((line) => line.endsWith("}")).map((line) => JSON.parse(line) as Entry);
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  has(part: string, step: number): boolean {
    return this.#entries.some((entry) => entry.part === part && entry.step === step);
  }

  add(entry: Entry): void {
    // After a line that was cut off, this one begins on its own.
    const cut = existsSync(this.#file) && !/(^|\n)$/.test(readFileSync(this.#file, "utf8"));
    appendFileSync(this.#file, `${cut ? "\n" : ""}${JSON.stringify(entry)}\n`);
    this.#entries.push(entry);
  }
}
