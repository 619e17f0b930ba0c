import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../types.ts";

// Enough to compare the last few failures, and no heap of files after a year.
const KEPT = 10;
const FOLDER = join(".mailsvc", "recordings");
const ENDING = ".ndjson.gz";

/** Chooses a file for the recording of a failed command without a flag. Deletes the oldest earlier ones, so that ten remain. */
export async function chooseRecordingFile(host: Pick<Host, "cwd" | "now" | "randomBytes">): Promise<string> {
  const folder = join(host.cwd, FOLDER);
  const { createFolder } = await import("@mailsvc/server");
  createFolder(folder);
  const earlier = readdirSync(folder)
    .filter((name) => name.endsWith(ENDING))
    .sort();
  for (const name of earlier.slice(0, Math.max(0, earlier.length - KEPT + 1))) rmSync(join(folder, name), { force: true });
  const stamp = new Date(host.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  return join(FOLDER, `${stamp}-${host.randomBytes(3).toString("hex")}${ENDING}`);
}
