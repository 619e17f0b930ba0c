import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { familyOf } from "../cpu.ts";

// strace says nothing when it has found all threads.
const ATTACHED_MS = 1500;
// Calls that are under way when the work is done.
const AFTER_MS = 500;

/** Counts how often processes and their children flush files while `work` goes on; NaN where strace cannot tell. */
export async function countFlushes(pids: readonly number[], work: () => Promise<unknown>): Promise<number> {
  if (spawnSync("strace", ["-V"]).status !== 0) return Number.NaN;
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-flushes-"));
  const file = join(folder, "calls");
  const watched = [...new Set([...pids, ...familyOf(familyOf(pids))])].flatMap((pid) => ["-p", `${pid}`]);
  const strace = spawn("strace", ["-f", "-o", file, "-e", "trace=fsync,fdatasync", ...watched], { stdio: "ignore" });
  const over = once(strace, "exit");
  await sleep(ATTACHED_MS);
  await work();
  await sleep(AFTER_MS);
  strace.kill("SIGINT");
  await over;
  const calls = readFileSync(file, "utf8").match(/\bf(?:data)?sync\(/g) ?? [];
  rmSync(folder, { recursive: true, force: true });
  return calls.length;
}

/** Flushes for each of some things, as tables have it. */
export function toFlushes(each: number): string {
  return Number.isNaN(each) ? "no strace" : each.toFixed(1);
}
