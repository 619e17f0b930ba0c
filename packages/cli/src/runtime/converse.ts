import { spawn } from "node:child_process";
import type { Conversation } from "../types.ts";

/** Starts a command that answers lines with lines. */
export function converse([command = "", ...args]: readonly string[], options: { env: NodeJS.ProcessEnv; cwd: string }): Conversation {
  const child = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
  const lines: string[] = [];
  let rest = "";
  let stderr = "";
  let hasEnded = false;
  let wake = (): void => {};
  const end = (): void => {
    hasEnded = true;
    wake();
  };
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    const [first = "", ...more] = part.split("\n");
    rest += first;
    for (const next of more) {
      // Programs of Windows end lines with CRLF.
      lines.push(rest.replace(/\r$/, ""));
      rest = next;
    }
    wake();
  });
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    stderr += part;
  });
  // It may end without having read everything.
  child.stdin.on("error", () => {});
  child.on("error", end);
  child.on("close", end);
  return {
    write: (line) => void child.stdin.write(`${line}\n`),
    read: async () => {
      while (lines.length === 0 && !hasEnded) await new Promise<void>((next) => (wake = next));
      return lines.shift() ?? null;
    },
    errors: () => stderr,
    end: () => void child.stdin.end(),
  };
}
