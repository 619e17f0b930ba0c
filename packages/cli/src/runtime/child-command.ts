import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import startProgram from "cross-spawn";
import type { Signal, Signals } from "./signals.ts";

/** The environment and streams of a command that is started. */
export interface ChildSettings {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** True if one of our streams is a terminal. */
  readonly onTerminal: boolean;
  /** Waits in real time. */
  sleep(ms: number): Promise<void>;
  /** Ends a process of Windows and all that it has started. */
  endTree(pid: number): void;
}

// Time that what a command leaves behind has to end after SIGTERM.
const GRACE_MS = 2000;
// Time that the command has to end after it was asked to, as long as the guard gives it.
const STOP_MS = 5000;
const POLL_MS = 20;

// Waits on a pipe. A line means that the command has ended; the end of the pipe, that this process was killed.
const GUARD =
  'trap "" INT HUP TERM QUIT; read -r ended && exit 0; kill -s TERM -- "$1" 2>/dev/null && sleep 5 && kill -s KILL -- "$1" 2>/dev/null';

const PASSED_ON: readonly Signal[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
const SENT_BY_TERMINALS: ReadonlySet<Signal> = new Set(["SIGINT", "SIGQUIT"]);

/*
 * A command that runs with the streams of this process. It does not outlive this process, also if that is killed: a shell waits for
 * that on a pipe (not on Windows, where the system does it).
 *
 * |                 | process group   | SIGINT, SIGQUIT      | SIGTERM, SIGHUP | what it leaves in its group | we are killed       |
 * | --------------- | --------------- | -------------------- | --------------- | --------------------------- | ------------------- |
 * | on a terminal   | ours: a         | sent by the terminal | passed on       | goes on, as under a shell   | SIGTERM, to it      |
 * |                 | terminal serves |                      |                 |                             |                     |
 * |                 | one group       |                      |                 |                             |                     |
 * | without         | its own         | passed to its group  | the same        | ended after it              | SIGTERM to its      |
 * |                 |                 |                      |                 |                             | group, SIGKILL 5 s  |
 * |                 |                 |                      |                 |                             | later               |
 *
 * What leaves its group by itself, as daemons do, goes on. Windows has no signals: what would be passed on ends the command and all that
 * it has started.
 */
export class ChildCommand {
  readonly #child: ChildProcess;
  readonly #ownGroup: boolean;
  readonly #settings: ChildSettings;

  private constructor(child: ChildProcess, ownGroup: boolean, settings: ChildSettings) {
    this.#child = child;
    this.#ownGroup = ownGroup;
    this.#settings = settings;
  }

  /**
   * Runs a command and returns its exit code: 128 + n if signal n ended it. `stop` asks it to end, and ends it 5 s later. Rejects with the
   * system's error if it cannot be started.
   */
  static async run(
    [command = "", ...args]: readonly string[],
    settings: ChildSettings,
    signals: Signals,
    stop: AbortSignal,
  ): Promise<number> {
    const { env, cwd, platform, onTerminal } = settings;
    if (stop.aborted) return 128 + constants.signals.SIGTERM;
    const isWindows = platform === "win32";
    const ownGroup = !isWindows && !onTerminal;
    let started: ChildCommand | undefined;
    // Listens before the command starts: until this process listens, a signal ends it.
    const unlisten = signals.listen(PASSED_ON, (signal) => {
      if (started !== undefined) started.#pass(signal);
    });
    const end = (): void => {
      if (started !== undefined) void started.#stop();
    };
    stop.addEventListener("abort", end, { once: true });
    let guard: ChildProcess | undefined;
    try {
      const child = startProgram(command, args, { env, cwd, detached: ownGroup, stdio: "inherit" });
      started = new ChildCommand(child, ownGroup, settings);
      const exited = started.#untilExit();
      if (child.pid !== undefined && !isWindows) guard = started.#guard(child.pid);
      const code = await exited;
      await started.#endGroup();
      return code;
    } finally {
      stop.removeEventListener("abort", end);
      unlisten();
      guard?.stdin?.end("\n");
    }
  }

  #untilExit(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("exit", (code, killedBy) => resolve(code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy])));
    });
  }

  /** Asks the command to end, and ends it when it does not. */
  async #stop(): Promise<void> {
    if (!this.#send("SIGTERM") || this.#settings.platform === "win32") return;
    for (let waited = 0; waited < STOP_MS; waited += POLL_MS) {
      await this.#settings.sleep(POLL_MS);
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    }
    this.#send("SIGKILL");
  }

  #pass(signal: Signal): void {
    if (this.#settings.onTerminal && SENT_BY_TERMINALS.has(signal)) return;
    this.#send(signal);
  }

  /** Sends a signal to the command, or to all of its group; false if they have ended. */
  #send(signal: NodeJS.Signals | 0): boolean {
    const { pid, exitCode } = this.#child;
    const { platform, endTree } = this.#settings;
    if (pid === undefined) return false;
    if (platform === "win32") {
      if (exitCode === null) endTree(pid);
      return exitCode === null;
    }
    try {
      process.kill(this.#ownGroup ? -pid : pid, signal);
      return true;
    } catch (error) {
      // EPERM: only what runs as another user is left.
      if (["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
      throw error;
    }
  }

  /** Ends what the command has left behind. */
  async #endGroup(): Promise<void> {
    if (!this.#ownGroup || !this.#send("SIGTERM")) return;
    for (let waited = 0; waited < GRACE_MS; waited += POLL_MS) {
      await this.#settings.sleep(POLL_MS);
      if (!this.#send(0)) return;
    }
    this.#send("SIGKILL");
  }

  #guard(pid: number): ChildProcess {
    const target = String(this.#ownGroup ? -pid : pid);
    const guard = spawn("/bin/sh", ["-c", GUARD, "sh", target], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    // Without a shell nothing watches, and the command runs nevertheless.
    guard.on("error", () => {});
    guard.stdin?.on("error", () => {});
    guard.unref();
    return guard;
  }
}
