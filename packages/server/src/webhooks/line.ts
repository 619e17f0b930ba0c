import type { Socket } from "node:net";
import type { Clock, Timer } from "../lib/clock.ts";
import { Answer } from "./answer.ts";
import { Heads } from "./answer-head.ts";

/** How a request ended: with an answer, or with an error; `answered` when some of an answer had come by then. */
export type Ending =
  | { readonly status: number; readonly bytes: Uint8Array; readonly retryAfter: string | null }
  | { readonly error: unknown; readonly answered: boolean };

/** The whole of an attempt took too long. */
export class TooLong extends Error {
  override name = "TooLong";
  readonly code = "ETIMEDOUT";

  constructor() {
    super("The attempt took too long.");
  }
}

/** A request that waits for its answer. */
interface Call {
  readonly answer: Answer;
  readonly timer: Timer;
  readonly done: (ending: Ending) => void;
}

/**
 * A connection to a webhook, which carries one request at a time. A receiver may send as slowly or as much as it likes: neither is
 * waited for.
 */
export class Line {
  readonly #socket: Socket;
  readonly #real: Clock["real"];
  readonly #heads = new Heads();
  #call: Call | null = null;
  #keptUntil = 0;

  constructor(socket: Socket, real: Clock["real"]) {
    this.#socket = socket;
    this.#real = real;
    socket.on("data", (bytes: Buffer) => this.#hear(bytes));
    socket.on("end", () => this.#endOf(null));
    socket.on("error", (error) => this.#endOf(error));
    socket.on("close", () => this.#endOf(null));
  }

  /** Whether it may carry another request now. */
  get isFree(): boolean {
    return this.#call === null && this.#socket.writable && this.#real.now() < this.#keptUntil;
  }

  /** Sends a request and tells how it ended, within `limit` ms of real time. */
  send(request: Uint8Array, limit: number, done: (ending: Ending) => void): void {
    const timer = this.#real.after(limit, () => this.#fail(new TooLong()));
    this.#call = { answer: new Answer(this.#heads), timer, done };
    if (this.#socket.writable) this.#socket.write(request);
    else this.#fail(closedEarly());
  }

  close(): void {
    this.#socket.destroy();
  }

  #hear(bytes: Buffer): void {
    if (this.#call === null) {
      // Nobody has asked it anything.
      this.close();
      return;
    }
    try {
      if (this.#call.answer.push(bytes)) this.#finish(this.#call.answer);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The connection has ended, of itself or with an error. */
  #endOf(error: Error | null): void {
    if (this.#call === null) return;
    if (error === null && this.#call.answer.close()) this.#finish(this.#call.answer);
    else this.#fail(error ?? closedEarly());
  }

  #finish({ status, bytes, retryAfter, keepMs }: Answer): void {
    // An answer that came before all of the request was taken: the rest of that would be read as the next one.
    const keeps = keepMs > 0 && this.#socket.writableLength === 0;
    this.#keptUntil = keeps ? this.#real.now() + keepMs : 0;
    if (!keeps) this.close();
    this.#end({ status, bytes, retryAfter });
  }

  #fail(error: unknown): void {
    this.#keptUntil = 0;
    this.close();
    this.#end({ error, answered: this.#call?.answer.begun ?? false });
  }

  #end(ending: Ending): void {
    const call = this.#call;
    this.#call = null;
    call?.timer.cancel();
    call?.done(ending);
  }
}

function closedEarly(): Error {
  return Object.assign(new Error("The connection was closed without an answer."), { code: "CLOSED" });
}
