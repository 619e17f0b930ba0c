import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { onTestFinished } from "vitest";
import { run } from "../src/run.ts";
import { listens } from "../src/runtime/listens.ts";
import { startCommand } from "../src/runtime/start-command.ts";
import type { Host, In, Out } from "../src/types.ts";

/** Setup of a command line in a test; everything unsaid is a quiet pipe on Linux. */
export interface Setup {
  env?: Record<string, string>;
  /** Input on stdin. */
  stdin?: string | Uint8Array;
  /** Stdin itself, in place of `stdin`, for keys pressed while the program runs. */
  input?: In;
  /** Receives what the program prints, as it prints it. */
  onOutput?: (text: string) => void;
  /** True while the reader of stdout is still there, after the text it has read. */
  reads?: (all: string) => boolean;
  /** The code of the error with which stdout refuses all that is written. */
  failing?: string;
  /** Streams that are terminals. */
  tty?: { stdin?: boolean; stdout?: boolean; stderr?: boolean };
  /** Answers typed at a terminal: each is given when its question is shown. */
  answers?: readonly string[];
  columns?: number;
  fetch?: typeof globalThis.fetch | undefined;
  home?: string;
  cwd?: string;
  platform?: NodeJS.Platform;
  /** The version of the program. */
  version?: string;
  now?: () => number;
  /** Runs in place of a command after `--`. */
  exec?: Host["exec"];
  /** Receives the way to send a signal. */
  onStart?: (signal: (name: "SIGINT" | "SIGTERM") => void) => void;
}

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
  /** Both, in the order in which they were printed. */
  printed: string;
  /** stdout as one JSON document. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where it is not there
  json: any;
  /** stdout as JSON documents, one a line. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  lines: any[];
}

/** A new folder, gone after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "mailsvc-cli-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Runs the program with the given arguments, as a shell would, but inside this process. */
export async function cli(argv: readonly string[], setup: Setup = {}): Promise<Result> {
  const stdin = new PassThrough() as PassThrough & { isTTY?: boolean };
  const home = setup.home ?? folder();
  if (setup.tty?.stdin) stdin.isTTY = true;
  const waiting = [...(setup.answers ?? [])];
  // A question ends in a space; only then would a person type.
  const listen = (text: string): void => {
    const asks = /(?:: |\] |\[22m |\[39m )$/.test(text) && text.includes("?");
    if (asks && waiting.length > 0) setImmediate(() => stdin.write(`${waiting.shift()}\r`));
  };
  if (!setup.tty?.stdin) stdin.end(setup.stdin ?? "");
  let printed = "";
  const print = (text: string): void => {
    printed += text;
    setup.onOutput?.(text);
  };
  const out = sink(setup.tty?.stdout ?? false, setup.columns ?? 100, print, setup.reads, setup.failing);
  const err = sink(setup.tty?.stderr ?? false, setup.columns ?? 100, (text) => {
    print(text);
    listen(text);
  });
  const host: Host = {
    argv,
    env: { MAILSVC_CEILING: process.env["MAILSVC_CEILING"] ?? "", MAILSVC_NO_UPDATE_NOTICE: "1", ...setup.env },
    stdin: setup.input ?? (stdin as In),
    stdout: out.stream,
    stderr: err.stream,
    platform: setup.platform ?? "linux",
    nodeVersion: "v24.0.0",
    home,
    cwd: setup.cwd ?? home,
    version: setup.version ?? "0.1.0",
    randomBytes,
    now: setup.now ?? Date.now,
    sleep: (ms, signal) =>
      new Promise((done) => {
        const timer = setTimeout(done, Math.min(ms, 20));
        signal?.addEventListener("abort", () => {
          clearTimeout(timer);
          done();
        });
      }),
    onSignal: (fire) => {
      setup.onStart?.(fire);
      return () => {};
    },
    exitAfter: () => {},
    onParentExit: (fire) => {
      setup.onStart?.(() => fire());
      return () => {};
    },
    userId: process.getuid?.(),
    isRunning: (pid) => pid === process.pid,
    exec: setup.exec ?? (() => Promise.resolve(0)),
    start: async (line, variables, heard) =>
      startCommand(line, { env: { ...process.env, ...setup.env, ...variables }, cwd: setup.cwd ?? home }, heard),
    listens,
    ...(setup.fetch ? { fetch: setup.fetch } : {}),
  };
  const code = await run(host);
  const stdout = out.text();
  return {
    code,
    stdout,
    stderr: err.text(),
    printed,
    get json() {
      return JSON.parse(stdout);
    },
    get lines() {
      return stdout
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
    },
  };
}

/** All streams are terminals. */
export const TERMINAL = { stdin: true, stdout: true, stderr: true } as const;

function sink(
  isTTY: boolean,
  columns: number,
  heard: (text: string) => void,
  reads: (all: string) => boolean = () => true,
  failing?: string,
): { stream: Out; text: () => string } {
  let all = "";
  const stream = new Writable({
    write: (chunk, _encoding, next) => {
      if (failing) return next(Object.assign(new Error(`write ${failing}`), { code: failing }));
      if (!reads(all)) return next(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      all += String(chunk);
      heard(String(chunk));
      next();
    },
  });
  return { stream: Object.assign(stream, { isTTY, columns }), text: () => all };
}
