import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { inject } from "vitest";
import { until } from "./api.ts";

const root = dirname(dirname(fileURLToPath(new URL(".", import.meta.url))));
const SECONDS = 590;

/** Builds the program of one file into `build`, once in a run of tests. A second test file that needs it waits until the first one has built it. */
export async function buildBinary(): Promise<void> {
  const place = join(root, "node_modules/.cache/mailsvc/binary-runs");
  const turn = join(place, inject("postgresRun"));
  const built = join(turn, "built");
  const failed = join(turn, "failed");
  mkdirSync(place, { recursive: true });
  if (isFirst(turn)) {
    try {
      await promisify(execFile)(process.execPath, [join(root, "packaging/binary/build.mjs")], { maxBuffer: 1e8 });
    } catch (error) {
      writeFileSync(failed, "");
      throw error;
    }
    writeFileSync(built, "");
    return;
  }
  await until(
    SECONDS,
    async () => existsSync(built) || existsSync(failed),
    async () => "the program is not built",
  );
  if (existsSync(failed)) throw new Error("The program could not be built: see the other file of tests that needs it.");
}

function isFirst(turn: string): boolean {
  try {
    mkdirSync(turn);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
