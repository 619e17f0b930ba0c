import { readdirSync, readFileSync } from "node:fs";

// The unit of /proc, which is the same on all common systems.
const TICK_US = 10_000;

/** Processor time that processes and their children have used so far, µs; NaN where the system does not tell. */
export function cpuOf(pids: readonly number[]): number {
  try {
    // Processes that have ended are counted by their parents, once these have waited for them.
    return statsOf(pids).reduce((sum, { ticks }) => sum + ticks * TICK_US, 0);
  } catch {
    return Number.NaN;
  }
}

/** Processes and their children, by their ids. */
export function familyOf(pids: readonly number[]): number[] {
  return statsOf(pids).map(({ pid }) => pid);
}

function statsOf(pids: readonly number[]): { pid: number; ticks: number }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .flatMap((pid) => readStat(pid) ?? [])
    .filter(({ pid, parent }) => pids.includes(pid) || pids.includes(parent));
}

function readStat(pid: number): { pid: number; parent: number; ticks: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [, parent = 0] = fields;
    // User and system time, of the process and of its ended children.
    return { pid, parent, ticks: fields.slice(11, 15).reduce((sum, n) => sum + n, 0) };
  } catch {
    // It has ended meanwhile.
    return null;
  }
}
