import { type ResourceLimits, type Transferable, Worker, type WorkerOptions } from "node:worker_threads";
import type { Clock, Timer } from "../lib/clock.ts";

/** The program of a thread. */
export interface ThreadProgram {
  /** Its file, or with `eval` its text. */
  readonly source: URL | string;
  readonly eval: NonNullable<WorkerOptions["eval"]>;
}

/** Loads the program of a thread, with the first mail that it gets: in bundles it is large. */
export type LoadProgram = () => Promise<ThreadProgram>;

/** A mail that was not read, though another attempt, perhaps of another version, might. */
export class MailNotRead extends Error {
  override readonly name = "MailNotRead";
  /** True when the mail itself is the reason, not how busy the thread is. */
  readonly isLasting: boolean;

  constructor(message: string, isLasting = false) {
    super(message);
    this.isLasting = isLasting;
  }
}

interface MailThreadOptions<Answer> {
  readonly name: string;
  readonly load: LoadProgram;
  readonly real: Clock["real"];
  /** Time for which the thread is kept without work, ms of real time. */
  readonly idleMs: number;
  readonly resourceLimits: ResourceLimits;
  /** Receives each message of the running thread. */
  readonly onAnswer: (answer: Answer) => void;
  /** The end of the thread, with the reason for the mails that it had. The next message starts another one. */
  readonly onEnd: (reason: MailNotRead) => void;
  /** Describes an end that nobody asked for, by its error or, without one, its exit. */
  readonly describe: (error: unknown) => MailNotRead;
}

/**
 * A thread for work on foreign mail. It starts with the first message and is replaced after its end; messages of a thread that has ended
 * are dropped. Whatever a mail contains, the event loop goes on, and the thread has nothing that this process was given.
 */
export class MailThread<Task, Answer> {
  readonly #options: MailThreadOptions<Answer>;
  #program: ThreadProgram | null = null;
  #worker: Worker | null = null;
  #idle: Timer | null = null;
  #closed = false;

  constructor(options: MailThreadOptions<Answer>) {
    this.#options = options;
  }

  /** The running thread; null without one. */
  get worker(): Worker | null {
    return this.#worker;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Loads the program, before the first message. Throws MailNotRead after the close. */
  async open(): Promise<void> {
    this.#program ??= await this.#options.load();
    if (this.#closed) throw stopped();
  }

  /** Sends a message, and starts the thread if none runs. The buffers go over to it. */
  post(task: Task, buffers: readonly Transferable[]): void {
    this.#idle?.cancel();
    this.#worker ??= this.#start();
    this.#worker.postMessage(task, [...buffers]);
  }

  /** Ends the thread unless there is work within its idle time. */
  rest(): void {
    this.#idle?.cancel();
    if (this.#worker !== null) this.#idle = this.#options.real.after(this.#options.idleMs, () => void this.end(stopped()));
  }

  /** Ends the thread, with the reason for the mails that it had. */
  async end(reason: MailNotRead): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    this.#ended(worker, reason);
    await worker.terminate();
  }

  /** Lets go of a thread that has answered all it had: the next message starts another one. */
  replace(): void {
    void this.#worker?.terminate();
    this.#worker = null;
  }

  /** Ends the thread for good. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.end(stopped());
  }

  #start(): Worker {
    const { name, resourceLimits, onAnswer, describe } = this.#options;
    if (this.#program === null) throw new Error("The program of a thread is loaded before its first message.");
    const { source, eval: isText } = this.#program;
    const worker = new Worker(source, { name, eval: isText, env: {}, argv: [], execArgv: [], resourceLimits });
    worker.unref();
    worker.on("message", (answer: Answer) => {
      if (this.#worker === worker) onAnswer(answer);
    });
    worker.on("error", (error) => this.#ended(worker, describe(error)));
    worker.on("exit", () => this.#ended(worker, describe(null)));
    return worker;
  }

  #ended(worker: Worker, reason: MailNotRead): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#idle?.cancel();
    this.#options.onEnd(reason);
  }
}

/** The reason for mails that a closed thread does not take. */
export function stopped(): MailNotRead {
  return new MailNotRead("The server is stopping.");
}
