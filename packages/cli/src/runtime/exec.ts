import { spawn } from "node:child_process";
import { constants } from "node:os";

/** The exit code and output of a command that was given an input. */
export interface Piped {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command that reads `input`, and gathers what it prints. Rejects with the system's error when it cannot be started. */
export function pipe(
  [command = "", ...args]: readonly string[],
  input: string,
  options: { env: NodeJS.ProcessEnv; cwd: string },
): Promise<Piped> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      stdout += part;
    });
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      stderr += part;
    });
    // It may end without having read everything.
    child.stdin.on("error", () => {});
    child.on("error", reject);
    child.on("close", (code, killedBy) =>
      resolve({ code: code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy]), stdout, stderr }),
    );
    child.stdin.end(input);
  });
}
