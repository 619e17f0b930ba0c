import { spawn } from "node:child_process";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import type { StartedCommand } from "../types.ts";
import { endTree } from "./process-tree.ts";

/**
 * Starts a command line in a shell. `heard` gets what it prints, line by line. It has its own process group, so that a signal reaches
 * everything it started: `npm start` passes signals on only in part. It does not outlive this process.
 */
export function startCommand(
  line: string,
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd: string },
  heard: (line: string) => void,
): StartedCommand {
  const isWindows = process.platform === "win32";
  const child = spawn(line, { env, cwd, shell: true, detached: !isWindows, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on("line", heard);
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid === undefined) return;
    try {
      if (isWindows) endTree(child.pid);
      else process.kill(-child.pid, name);
    } catch (error) {
      // All of them have ended.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  };
  const endWithUs = (): void => signal("SIGKILL");
  process.once("exit", endWithUs);
  const exited = new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    // Not `exit`: what it printed last is still to be read.
    child.once("close", (code, killedBy) => resolve(code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy])));
  }).finally(() => process.off("exit", endWithUs));
  return { exited, signal };
}
