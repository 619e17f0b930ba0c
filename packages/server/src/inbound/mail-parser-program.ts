import type { WorkerOptions } from "node:worker_threads";

/** The program of the parser's thread. */
export interface ThreadProgram {
  /** Its file, or with `eval` its text. */
  readonly source: URL | string;
  readonly eval: NonNullable<WorkerOptions["eval"]>;
}

/** Loads the program of a thread, with the first mail that it reads: in bundles it is large. */
export type LoadProgram = () => Promise<ThreadProgram>;

/** Among the sources it is a file. The bundles and the single binary contain its text: their build replaces this module. */
export const mailParserProgram: ThreadProgram = { source: new URL("./mail-parser.worker.ts", import.meta.url), eval: false };
