import { spawnSync } from "node:child_process";

/** Ends a process of Windows and all that it has started: a signal would reach the first one only, which is often cmd.exe. */
export function endTree(pid: number): void {
  spawnSync("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
}
