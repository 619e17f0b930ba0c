import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

// A client may send requests before it has the responses to earlier ones. With more than this many without a response its connection is
// not read until half of them have one. Node looks at the bytes of responses only, and a request that waits has none: 200,000 requests of
// one connection filled the memory.
const MAX_OPEN = 64;

/**
 * The requests of one connection that have no response yet.
 *
 * | it is   | trigger                                      | becomes                                                          |
 * | ------- | -------------------------------------------- | ---------------------------------------------------------------- |
 * | reading | the 65th request without a response          | paused; what was read already is parsed, some thousand at most   |
 * | paused  | Node reads on, as it does after each request | paused                                                           |
 * | paused  | responses: 32 requests are left              | reading                                                          |
 */
class Pipeline {
  /** Its requests that have not been started yet; `TurnBudget` starts them. */
  readonly waiting: (() => void)[] = [];
  readonly #socket: Socket;
  #open = 0;
  #paused = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Counts a request until its response has been written. */
  add(res: ServerResponse): void {
    this.#open += 1;
    res.on("close", this.#remove);
    if (this.#open > MAX_OPEN && !this.#paused) this.#pause();
  }

  /** True while the connection is not read, because too many of its requests have no response. */
  get isPaused(): boolean {
    return this.#paused;
  }

  readonly #remove = (): void => {
    this.#open -= 1;
    if (this.#paused && this.#open <= MAX_OPEN / 2) this.#resume();
  };

  #pause(): void {
    this.#paused = true;
    this.#socket.on("resume", this.#stayPaused);
    this.#socket.pause();
  }

  #resume(): void {
    this.#paused = false;
    this.#socket.off("resume", this.#stayPaused);
    this.#socket.resume();
  }

  readonly #stayPaused = (): void => void this.#socket.pause();
}

/** The pipelines of all connections. */
export class Pipelines {
  readonly #bySocket = new WeakMap<Duplex, Pipeline>();

  isPaused(socket: Duplex): boolean {
    return this.#bySocket.get(socket)?.isPaused === true;
  }

  of({ socket }: IncomingMessage): Pipeline {
    let pipeline = this.#bySocket.get(socket);
    if (!pipeline) {
      pipeline = new Pipeline(socket);
      this.#bySocket.set(socket, pipeline);
    }
    return pipeline;
  }
}
