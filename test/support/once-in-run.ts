import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { until } from "./api.ts";

const root = dirname(dirname(fileURLToPath(new URL(".", import.meta.url))));
const SECONDS = 590;

/** Makes something once in a run of tests. A second test file that needs it waits until the first one has made it. */
export async function onceInRun(name: string, make: () => Promise<unknown>): Promise<void> {
  const place = join(root, "node_modules/.cache/mailsvc", `${name}-runs`);
  const turn = join(place, inject("postgresRun"));
  const made = join(turn, "made");
  const failed = join(turn, "failed");
  mkdirSync(place, { recursive: true });
  if (isFirst(turn)) {
    try {
      await make();
    } catch (error) {
      writeFileSync(failed, "");
      throw error;
    }
    writeFileSync(made, "");
    return;
  }
  await until(
    SECONDS,
    async () => existsSync(made) || existsSync(failed),
    async () => `${name} is not made`,
  );
  if (existsSync(failed)) throw new Error(`${name} could not be made: see the other file of tests that needs it.`);
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
