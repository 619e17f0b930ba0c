import type { ChildProcess } from "node:child_process";
import { freePort } from "../../../test/support/free-port.ts";
import { firstLine, killProgram, startProgram } from "../process.ts";

/** A program of `apps` that prints a line when it is ready. */
export class App {
  readonly port: number;
  readonly #command: readonly string[];
  #child: ChildProcess | null = null;

  static async start(command: (port: number) => readonly string[]): Promise<App> {
    const port = await freePort();
    const app = new App(port, command(port));
    await app.run();
    return app;
  }

  private constructor(port: number, command: readonly string[]) {
    this.port = port;
    this.#command = command;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async run(): Promise<void> {
    this.#child = startProgram([process.execPath, "--no-deprecation", ...this.#command]);
    await firstLine(this.#child);
    this.#child.stdout?.resume();
  }

  kill(): Promise<void> {
    return killProgram(this.#child);
  }
}
