import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { onceInRun } from "./once-in-run.ts";
import { root } from "./sources.ts";

/** Builds the program of one file into `build`, once in a run of tests. */
export async function buildBinary(): Promise<void> {
  const build = [join(root, "packaging/binary/build.mjs")];
  await onceInRun("binary", () => promisify(execFile)(process.execPath, build, { maxBuffer: 1e8 }));
}
