import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The built server, as it is shipped. */
const SERVER = fileURLToPath(new URL("../../packages/server/dist/main.js", import.meta.url));

/** Content of the ready file. */
export interface Ready {
  url: string;
  workspaceId: string;
  apiKey: string | null;
  operatorKey: string | null;
  dashboardUrl: string;
  /** URL for mail submission over SMTP; null for none. */
  smtpUrl: string | null;
  /** In dev mode only. */
  profiles?: { builder: { workspaceId: string; apiKey: string } };
}

/** End of a program. */
interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ServerProcess {
  readonly child: ChildProcess;
  readonly readyFile: string;
  /** Settles when the ready-file is there, with what it says; null when the program ended before that. */
  ready(): Promise<Ready | null>;
  readonly ended: Promise<Ended>;
  /** Returns its output on stderr so far. */
  stderr(): string;
  stdout(): string;
  kill(signal: NodeJS.Signals): Promise<Ended>;
}

export interface StartOptions {
  /** Folder of the database. */
  data: string;
  flags?: readonly string[];
  /** Command prefix before node, e.g. ["taskset", "-c", "0"]. */
  before?: readonly string[];
  /** Command to run: node with the built server, unless told otherwise. */
  program?: readonly string[];
}

/** Starts the built server on a port that it chooses. It does not wait for it. */
export function startServer({ data, flags = [], before = [], program = ["node", SERVER] }: StartOptions): ServerProcess {
  const readyFile = join(data, "..", `ready-${process.pid}-${nextFile++}.json`);
  rmSync(readyFile, { force: true });
  const [command = "", ...args] = [...before, ...program, "--port", "0", "--data", data, "--ready-file", readyFile, ...flags];
  // The environment of a developer must not steer the server of a test.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("MAILSVC_") && name !== "NODE_OPTIONS"));
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env });
  let stderr = "";
  let stdout = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  let over = false;
  const ended = once(child, "close").then(([code, signal]): Ended => {
    over = true;
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  return {
    child,
    readyFile,
    ended,
    stderr: () => stderr,
    stdout: () => stdout,
    ready: async () => {
      while (!existsSync(readyFile)) {
        if (over) return null;
        await new Promise((next) => setTimeout(next, 1));
      }
      return JSON.parse(readFileSync(readyFile, "utf8")) as Ready;
    },
    kill: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

let nextFile = 0;
