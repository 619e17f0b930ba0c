import { readFileSync } from "node:fs";
import { familyOf } from "../cpu.ts";

/** Memory of processes and their children, shared pages counted once, MB. */
export function memoryOf(pids: readonly number[]): number {
  const kilobytes = familyOf(pids).map((pid) => {
    try {
      return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      // It has ended meanwhile.
      return 0;
    }
  });
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
}
