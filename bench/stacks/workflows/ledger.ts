import { createServer, type Server } from "node:net";
import { createInterface } from "node:readline";

/** Steps of each workflow; `apps/ledger.mjs` says the same. */
export const STEPS = 10;

/** Outside world of the workflows: it notes how often each step of each was done. */
export class Ledger {
  readonly #server: Server;
  readonly #done = new Map<number, number[]>();
  readonly #waiting = new Map<number, () => void>();
  #steps = 0;
  #lastAt = 0;

  static async start(): Promise<Ledger> {
    const ledger = new Ledger();
    await new Promise<void>((listening) => ledger.#server.listen(0, "127.0.0.1", listening));
    return ledger;
  }

  private constructor() {
    this.#server = createServer((socket) => {
      socket.on("error", () => {});
      createInterface(socket).on("line", (line) => {
        const [n = Number.NaN, step = Number.NaN] = line.split(" ").map(Number);
        this.#note(n, step);
      });
    });
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address ? address.port : 0;
  }

  /** Number of times that each step was done, by the workflow's number. */
  get done(): ReadonlyMap<number, readonly number[]> {
    return this.#done;
  }

  /** Steps that were done so far, repetitions among them. */
  get steps(): number {
    return this.#steps;
  }

  /** Time of the last step, by `performance.now()`; 0 before the first. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** True if every step of a workflow was done. */
  isDone(n: number): boolean {
    return this.#done.get(n)?.every((times) => times > 0) ?? false;
  }

  /** Settles when every step of a workflow was done, or after some time. */
  async whenDone(n: number, withinMs: number): Promise<void> {
    if (this.isDone(n)) return;
    await new Promise<void>((done) => {
      const end = setTimeout(done, withinMs);
      this.#waiting.set(n, () => {
        clearTimeout(end);
        done();
      });
    });
    this.#waiting.delete(n);
  }

  forget(): void {
    this.#done.clear();
    this.#waiting.clear();
    this.#steps = 0;
  }

  async stop(): Promise<void> {
    await new Promise((closed) => this.#server.close(closed));
  }

  #note(n: number, step: number): void {
    const times = this.#done.get(n) ?? Array<number>(STEPS).fill(0);
    times[step] = (times[step] ?? 0) + 1;
    this.#done.set(n, times);
    this.#steps += 1;
    this.#lastAt = performance.now();
    if (step === STEPS - 1) this.#waiting.get(n)?.();
  }
}
