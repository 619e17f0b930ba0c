import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "../errors.ts";
import { inheritEnvironment, systemRuntime } from "../runtime.ts";
import type { LocalOptions } from "./local-server.ts";

const START_MS = 60_000;
const POLL_MS = 10;
// A server that does not stop by itself is killed after so long.
const STOP_MS = 15_000;
// Characters kept from the end of stderr, shown when the server does not start.
const KEPT_CHARACTERS = 4000;

/** Content of a server's ready file. */
export interface ReadyServer {
  readonly url: string;
  readonly apiKey: string;
}

/** Starts a dev server as a process; `stop` ends it and deletes its data. */
export async function startProcess(options: LocalOptions): Promise<{ ready: ReadyServer; stop: () => Promise<void> }> {
  const program = findProgram(options.cwd ?? process.cwd());
  const folder = await mkdtemp(join(tmpdir(), "mailsvc-test-"));
  const readyFile = join(folder, "ready.json");
  const flags = ["--port", "0", "--data", join(folder, "data"), "--ready-file", readyFile, "--plain", ...listFlags(options)];
  // Elsewhere than in the project: a server of a test is not the one that commands find there.
  // It stops when this process is gone, also when that was killed.
  const env = { ...withoutSettings(inheritEnvironment()), MAILSVC_STOP_WITH: String(process.pid) };
  const child = spawn(process.execPath, [program, "dev", ...flags], { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-KEPT_CHARACTERS);
    options.onLog?.(text);
  });
  const stop = async (): Promise<void> => {
    await endProcess(child, ended);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    return { ready: await waitUntilReady(child, readyFile, options.timeoutMs ?? START_MS), stop };
  } catch (error) {
    await stop();
    throw new Error(`The dev server did not start: ${(error as Error).message}\n${output}`.trimEnd());
  }
}

/** An environment without the variables of mailsvc, which are those of the project's own servers. */
function withoutSettings(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith("MAILSVC_")));
}

function listFlags({ seed, now, flags = [] }: LocalOptions): string[] {
  return [...(seed === undefined ? [] : ["--seed", String(seed)]), ...(now === undefined ? [] : ["--now", now]), ...flags];
}

function findProgram(cwd: string): string {
  try {
    const require = createRequire(join(resolve(cwd), "package.json"));
    const manifest = require.resolve("mailsvc/package.json");
    const { bin } = require(manifest) as { bin: Record<string, string> };
    return join(dirname(manifest), bin["mailsvc"] ?? "");
  } catch (error) {
    throw new UsageError({ message: `The package mailsvc is not installed in ${cwd}. Run: npm install --save-dev mailsvc`, cause: error });
  }
}

async function waitUntilReady(child: ChildProcess, readyFile: string, timeoutMs: number): Promise<ReadyServer> {
  const { now, sleep } = systemRuntime;
  const until = now() + timeoutMs;
  const never = new AbortController().signal;
  let failure: Error | null = null;
  child.once("error", (error) => (failure = error));
  while (now() < until) {
    if (failure) throw failure;
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it ended with ${child.exitCode ?? child.signalCode}.`);
    const text = await readFile(readyFile, "utf8").catch(() => null);
    if (text !== null) return JSON.parse(text) as ReadyServer;
    await sleep(POLL_MS, never);
  }
  throw new Error(`it was not ready after ${timeoutMs / 1000} seconds.`);
}

async function endProcess(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill("SIGTERM");
  const cancel = systemRuntime.after(STOP_MS, () => child.kill("SIGKILL"));
  if (child.pid !== undefined) await ended;
  cancel();
}
