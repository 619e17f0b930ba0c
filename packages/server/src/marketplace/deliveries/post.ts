import type { Client, Dispatcher } from "undici";
import type { Clock, Timer } from "../../lib/clock.ts";

/** How a request ended: with an answer, or with an error, `answered` when that came in the middle of one. */
export type Ending =
  | { readonly status: number; readonly bytes: Uint8Array; readonly retryAfter: string | null; readonly whole: boolean }
  | { readonly error: unknown; readonly answered: boolean };

export interface Post {
  readonly path: string;
  /** Names and values in turns. */
  readonly headers: string[];
  readonly body: Uint8Array;
}

/** The whole of an attempt took too long. */
export class TooLong extends Error {
  override name = "TooLong";
  readonly code = "ETIMEDOUT";

  constructor() {
    super("The attempt took too long.");
  }
}

// What is read of an answer; the rest of it is of no interest, and may have no end.
const READ = 16 * 1024;

const NOTHING = new Uint8Array(0);

/** A request that is under way, and what came back so far. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #done: (ending: Ending) => void;
  readonly #timer: Timer;
  #controller: Dispatcher.DispatchController | null = null;
  #ended = false;
  #status = 0;
  #retryAfter: string | null = null;
  #chunks: Buffer[] | null = null;
  #read = 0;

  constructor(limit: number, real: Clock["real"], done: (ending: Ending) => void) {
    this.#done = done;
    this.#timer = real.after(limit, () => {
      const error = new TooLong();
      this.#fail(error);
      this.#controller?.abort(error);
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Its time was over before there was a connection.
    if (this.#ended) controller.abort(new TooLong());
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx only announces the answer.
    if (status < 200) return;
    this.#status = status;
    const wait = headers["retry-after"];
    this.#retryAfter = typeof wait === "string" ? wait : null;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    this.#chunks ??= [];
    this.#chunks.push(chunk);
    this.#read += chunk.length;
    if (this.#read <= READ) return;
    this.#answer(false);
    controller.abort(new Error("Enough was read."));
  }

  onResponseEnd(): void {
    this.#answer(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #answer(whole: boolean): void {
    const bytes = this.#chunks === null ? NOTHING : Buffer.concat(this.#chunks).subarray(0, READ);
    this.#end({ status: this.#status, bytes, retryAfter: this.#retryAfter, whole });
  }

  #fail(error: unknown): void {
    this.#end({ error, answered: this.#status > 0 });
  }

  #end(ending: Ending): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer.cancel();
    this.#done(ending);
  }
}

/**
 * Sends a request on a connection and tells how it ended, within `limit` ms of real time. A receiver may send as slowly or as much
 * as it likes: neither is waited for.
 */
export const post = (
  client: Client,
  { path, headers, body }: Post,
  limit: number,
  real: Clock["real"],
  done: (ending: Ending) => void,
): void => {
  client.dispatch({ path, method: "POST", headers, body, headersTimeout: 0, bodyTimeout: 0 }, new Exchange(limit, real, done));
};
