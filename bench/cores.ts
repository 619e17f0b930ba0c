import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

let pinning: boolean | undefined;

/** Returns the command prefix that pins a process to one core; empty if that is impossible. */
export function onCore(core: number): string[] {
  pinning ??= canPin();
  return pinning ? ["taskset", "-c", String(core)] : [];
}

function canPin(): boolean {
  if (availableParallelism() < 2) return false;
  try {
    execFileSync("taskset", ["-c", "0,1", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
