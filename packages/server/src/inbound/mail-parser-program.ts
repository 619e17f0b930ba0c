import type { ThreadProgram } from "./mail-thread.ts";

/** Among the sources it is a file. The bundles and the single binary contain its text: their build replaces this module. */
export const mailParserProgram: ThreadProgram = { source: new URL("./mail-parser.worker.ts", import.meta.url), eval: false };
