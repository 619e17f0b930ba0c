import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "../dev-server.ts";
import { type Block, blocksOf, usageOf } from "../markdown.ts";

/** A command that goes on running, in a second terminal, until Ctrl-C stops it. */
const RUNS_ON = /^npx mailsvc (?:dev|serve)\b(?!.* -- ).*\n$/;

interface PageRunnerOptions {
  /** Working folder of the runner. */
  readonly project: string;
  /** A folder outside of it, in which the runner may write. */
  readonly notes: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Addresses that pages name, and what is used instead of them, because they may be in use on this machine. */
  readonly addresses?: Readonly<Record<string, string>>;
  /** Text that the reader types in place of each ellipsis of a page. */
  readonly typed?: Readonly<Record<string, () => string>>;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Follows a page to the letter: types its shell blocks one after the other into one terminal, lets servers run on in another
 * one, saves scripts and runs them as their first line says.
 */
export class PageRunner {
  readonly #options: PageRunnerOptions;
  #server: { readonly child: ChildProcess; readonly said: () => string } | null = null;

  constructor(options: PageRunnerOptions) {
    this.#options = options;
  }

  /** Follows the blocks of a page in their order. Returns all that was printed; throws with the line of a block that fails. */
  async follow(page: string, which: (block: Block) => boolean = () => true): Promise<string> {
    const printed: string[] = [];
    try {
      for (const block of blocksOf(page).filter(which))
        printed.push(
          await this.#do(block).catch((error: Error) => {
            throw new Error(`${page}:${block.line}: ${error.message}`);
          }),
        );
    } finally {
      await this.#interrupt();
    }
    return printed.join("\n");
  }

  async #do(block: Block): Promise<string> {
    if (block.language === "ts") return this.#script(block);
    if (block.language !== "sh") throw new Error(`A runner cannot follow a block of ${block.language}.`);
    const { addresses = {}, typed = {} } = this.#options;
    const moved = Object.entries(addresses).reduce((said, [there, here]) => said.replaceAll(there, here), block.text);
    const text = Object.entries(typed).reduce((said, [shown, type]) => said.replaceAll(shown, type), moved);
    return RUNS_ON.test(text) ? this.#serve(text.trim()) : this.#type(text);
  }

  /** Types commands into the terminal, which keeps its folder and variables for the next ones. */
  async #type(text: string): Promise<string> {
    const { project, notes, env, user } = this.#options;
    const state = join(notes, "terminal");
    const session = `[ ! -e ${state} ] || . ${state}\n${text}\n{ export -p; echo "cd '$PWD'"; } > ${state}`;
    const options = { cwd: project, env, maxBuffer: 1e8, timeout: 110_000, ...user };
    try {
      const { stdout, stderr } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", session], options);
      return `${stdout}\n${stderr}`;
    } catch (error) {
      const { message, stdout, stderr } = error as Error & { stdout: string; stderr: string };
      throw new Error(`${message}\n${stdout}\n${stderr}\n${this.#server?.said() ?? "No server runs."}`);
    }
  }

  async #script(block: Block): Promise<string> {
    const { file, command } = usageOf(block);
    if (!file) throw new Error(`A runner is not told what to do with this script:\n${block.text}`);
    writeFileSync(join(this.#options.project, file), block.text);
    return command ? this.#type(command) : "";
  }

  /** Starts a server, in the terminal where another one may run already, and waits until it is ready. */
  async #serve(command: string): Promise<string> {
    await this.#interrupt();
    const { project, notes, env, user } = this.#options;
    const ready = join(notes, "ready.json");
    rmSync(ready, { force: true });
    const child = spawn("bash", ["-c", command], {
      cwd: project,
      env: { ...env, MAILSVC_READY_FILE: ready },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      ...user,
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
    this.#server = { child, said: () => output };
    await until(command, () => existsSync(ready) || child.exitCode !== null);
    if (child.exitCode !== null) throw new Error(`${command}: exit ${child.exitCode}\n${output}`);
    return output;
  }

  /** Ctrl-C, which reaches npx and the server alike. */
  async #interrupt(): Promise<void> {
    const child = this.#server?.child;
    this.#server = null;
    if (!child || child.exitCode !== null) return;
    const ended = once(child, "exit");
    process.kill(-(child.pid as number), "SIGINT");
    await ended;
  }
}
