import { homedir } from "node:os";
import { isatty } from "node:tty";
import { setFlagsFromString } from "node:v8";
import manifest from "../package.json" with { type: "json" };
import { usageError } from "./runtime/errors.ts";
import { listNpmProcesses } from "./runtime/npm-parent.ts";
import { Signals } from "./runtime/signals.ts";
import type { Host } from "./types.ts";

const PARENT_POLL_MS = 250;
const signals = new Signals(process);
const IMPORT_HEAP = ["--max-semi-space-size=8", "--semi-space-growth-factor=1"];

/** The process this program runs in. */
export const processHost: Host = {
  argv: process.argv.slice(2),
  env: process.env,
  // Node makes a stream for it when it is first read, which takes 1.5 ms.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  platform: process.platform,
  nodeVersion: process.version,
  home: homedir(),
  get cwd() {
    return getWorkingFolder();
  },
  version: manifest.version,
  randomBytes: (size) => Buffer.from(crypto.getRandomValues(new Uint8Array(size))),
  now: () => Date.now(),
  sleep,
  onSignal: (fire) => {
    let heard = 0;
    return signals.listen(["SIGINT", "SIGTERM", "SIGHUP"], (signal) => {
      // A terminal that is closed, and its shell, may both send it.
      if (signal === "SIGHUP" && heard > 0) return;
      heard += 1;
      // A second signal ends the process at once.
      if (heard > 1) process.exit(130);
      fire(signal);
    });
  },
  onParentExit: (fire) => {
    // npm waits for the server, so it ends first only when it is killed. A test that started the server names itself.
    const { ppid } = process;
    const tests = Number(process.env["MAILSVC_STOP_WITH"]);
    const watched = [...listNpmProcesses(ppid, process.env), ...(tests > 1 ? [tests] : [])];
    if (watched.length === 0) return () => {};
    const hasEnded = (): boolean => process.ppid !== ppid || !watched.every(isRunning);
    const timer = setInterval(() => hasEnded() && fire(), PARENT_POLL_MS);
    timer.unref();
    return () => clearInterval(timer);
  },
  exitAfter: (ms) => void setTimeout(() => process.exit(), ms).unref(),
  userId: process.getuid?.(),
  isRunning,
  // Loads code that few commands need only when it is used.
  exec: async (argv, variables, stop) => {
    const [{ ChildCommand }, { endTree }] = await Promise.all([import("./runtime/child-command.ts"), import("./runtime/process-tree.ts")]);
    const onTerminal = [0, 1, 2].some((stream) => isatty(stream));
    const { platform } = process;
    const settings = { env: { ...process.env, ...variables }, cwd: process.cwd(), platform, onTerminal, sleep, endTree };
    return ChildCommand.run(argv, settings, signals, stop);
  },
  start: async (line, variables, heard) => {
    const { startCommand } = await import("./runtime/start-command.ts");
    return startCommand(line, { env: { ...process.env, ...variables }, cwd: process.cwd() }, heard);
  },
  listens: async (url) => (await import("./runtime/listens.ts")).listens(url),
  fetch: (input, init) => globalThis.fetch(input, init),
};

/**
 * Sets up V8 for the command. An import creates much short-lived garbage, for which V8 would grow its young generation by over
 * 100 MB. A small one keeps memory flat (200 instead of 330 MB for 200,000 rows) at the same speed. A server sets no
 * flag: V8 refuses cached code, also Node's own, under other flags than it was compiled with, and a start took 14 ms longer.
 */
export function tuneHeap({ argv }: Host): void {
  if (argv.includes("import")) for (const flag of IMPORT_HEAP) setFlagsFromString(flag);
}

function getWorkingFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw usageError("The working folder does not exist any more.", { hint: "Change to one that does, then try again." });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs as another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted) return done();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}
