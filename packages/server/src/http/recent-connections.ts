import type { Duplex } from "node:stream";
import type { Clock } from "../lib/clock.ts";

/** Knows which open connections had a request lately. */
export class RecentConnections {
  readonly #real: Clock["real"];
  /** Time of the last request of each open connection, ms. */
  readonly #usedAt = new Map<Duplex, number>();

  constructor(real: Clock["real"]) {
    this.#real = real;
  }

  /** Remembers that a request has come on a connection. */
  use(socket: Duplex): void {
    if (!this.#usedAt.has(socket)) socket.once("close", () => void this.#usedAt.delete(socket));
    this.#usedAt.set(socket, this.#real.now());
  }

  /** The open connections that had a request within the last `ms`. */
  list(ms: number): readonly Duplex[] {
    const since = this.#real.now() - ms;
    return [...this.#usedAt].filter(([, usedAt]) => usedAt >= since).map(([socket]) => socket);
  }
}
