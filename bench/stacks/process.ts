import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onCore } from "../cores.ts";

/** The folder with the programs that are compared, and what they are installed with. */
export const APPS = fileURLToPath(new URL("./apps/", import.meta.url));

/** Installs what they need, unless that was done since the list of it changed. */
export function installApps(): void {
  // npm writes it when it is done.
  const done = `${APPS}node_modules/.package-lock.json`;
  if (existsSync(done) && statSync(done).mtimeMs >= statSync(`${APPS}package-lock.json`).mtimeMs) return;
  execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: APPS, stdio: ["ignore", 2, 2] });
}

/** Starts a program of a stack on the first core. */
export function startProgram(command: readonly string[], cwd = APPS): ChildProcess {
  const [program = "", ...args] = [...onCore(0), ...command];
  return spawn(program, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
}

/** The first line that a program prints. Throws when it ends before. */
export async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("The program has no output.");
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`The program ended with ${code}.`);
  });
  ended.catch(() => {});
  return (await Promise.race([once(createInterface(child.stdout), "line"), ended]))[0] as string;
}

export async function killProgram(child: ChildProcess | null): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** Settles when something listens on a port of this machine, and, of a mail server, has greeted. Throws after a minute. */
export async function listening(port: number, greets: boolean): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await answers(port, greets))) {
    if (performance.now() > end) throw new Error(`Nothing listens on port ${port}.`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

function answers(port: number, greets: boolean): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    const end = (is: boolean) => () => {
      socket.destroy();
      done(is);
    };
    socket.once(greets ? "data" : "connect", end(true));
    socket.once("error", end(false));
    socket.once("close", end(false));
  });
}
