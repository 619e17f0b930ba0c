import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Answer } from "./answer.ts";
import { type Exchange, type HeaderReader, NO_PARAMS, NO_SEARCH, WRITTEN } from "./exchange.ts";
import { type PlainRequest, readPlain } from "./plain-request.ts";

export interface PlainOptions {
  /** Serves a write whose path has no parameters; undefined for any other target. */
  readonly find: (target: string) => ((exchange: Exchange) => Promise<unknown>) | undefined;
  /** Takes a connection over, with what it has sent that nobody has read. */
  readonly handOver: (socket: Socket, unread: Buffer) => void;
  /** Time of the machine, ms since 1970: for the Date header, as the runtime writes it. */
  readonly now: () => number;
  /** How long a connection may be silent: before its first request, and after (ms). */
  readonly firstMs: number;
  readonly idleMs: number;
}

// The runtime lets connections live a second longer than it tells: a request may be on its way.
const LATE_MS = 1000;
// What a header may not hold, as the runtime has it: a line break would be another header.
const UNSAFE = /[^\t\x20-\x7e\x80-\xff]/;

class PlainExchange implements Exchange, HeaderReader {
  readonly headers: HeaderReader = this;
  readonly #request: PlainRequest;
  readonly #connection: Connection;

  constructor(request: PlainRequest, connection: Connection) {
    this.#request = request;
    this.#connection = connection;
  }

  get(name: string): string | null {
    return this.#request.headers[name] ?? null;
  }

  get remoteAddress(): string | undefined {
    return this.#connection.socket.remoteAddress;
  }

  pathname(): string {
    const { target } = this.#request;
    return target.slice(target.indexOf(" ") + 1);
  }

  search(): URLSearchParams {
    return NO_SEARCH;
  }

  params(): Readonly<Record<string, string>> {
    return NO_PARAMS;
  }

  // Came in one piece, so it is far below any limit.
  body(): Promise<Uint8Array> {
    return Promise.resolve(this.#request.body);
  }

  signal(): AbortSignal {
    const gone = new AbortController();
    this.#connection.onGone = () => gone.abort();
    return gone.signal;
  }

  respond(answer: Answer): Response {
    this.#connection.onGone = null;
    this.#connection.answer(answer);
    return WRITTEN;
  }

  cut(): void {
    this.#connection.socket.destroy();
  }
}

/** A connection on which nothing but plain requests has come so far, one after the other. */
class Connection {
  readonly socket: Socket;
  /** True while a request is being served. */
  busy = false;
  /** Called when the client goes before it has its answer. */
  onGone: (() => void) | null = null;
  readonly #server: PlainServer;
  /** What came meanwhile; null when nothing did. */
  #unread: Buffer | null = null;
  /** The client has said that it sends nothing more. */
  #ended = false;
  /** It was told that this connection ends: whatever else it sends is not done. */
  #closing = false;

  constructor(socket: Socket, server: PlainServer) {
    this.socket = socket;
    this.#server = server;
    socket.setTimeout(server.options.firstMs);
    socket.on("data", this.#read);
    socket.on("end", this.#end);
    socket.on("timeout", this.#silent);
    socket.on("drain", this.#drained);
    socket.on("error", this.#gone);
    socket.on("close", this.#gone);
  }

  /** True when nothing is left to do or to write. */
  get idle(): boolean {
    return !this.busy && this.socket.writableLength === 0;
  }

  answer({ status, headers, body }: Answer): void {
    const { socket } = this;
    this.busy = false;
    if (socket.destroyed) return;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    let last = this.#ended;
    for (const [name, value] of headers) {
      if (UNSAFE.test(value)) throw new Error(`The header ${name} holds what no header may.`);
      if (name === "connection") last ||= value === "close";
      else head += `${name}: ${value}\r\n`;
    }
    head += `Date: ${this.#server.date()}\r\n${last ? "Connection: close" : this.#server.alive}\r\n\r\n`;
    const taken = socket.write(typeof body === "string" ? head + body : Buffer.concat([Buffer.from(head), body]));
    if (last) {
      this.#closing = true;
      socket.end();
      socket.resume();
    } else if (this.#unread) this.#handOver(this.#unread);
    // Who asks without reading the answers is not asked for more.
    else if (!taken) socket.pause();
  }

  readonly #read = (bytes: Buffer): void => {
    if (this.#closing) return;
    if (this.busy) {
      this.#unread = this.#unread ? Buffer.concat([this.#unread, bytes]) : bytes;
      this.socket.pause();
      return;
    }
    const request = readPlain(bytes);
    const serve = request && this.#server.options.find(request.target);
    if (!serve) {
      this.#handOver(bytes);
      return;
    }
    this.busy = true;
    this.socket.setTimeout(this.#server.options.idleMs + LATE_MS);
    // An answer that cannot be written ends its own connection only.
    serve(new PlainExchange(request, this)).catch(() => void this.socket.destroy());
  };

  readonly #end = (): void => {
    this.#ended = true;
    if (!this.busy) this.socket.end();
  };

  readonly #silent = (): void => {
    if (!this.busy) this.socket.destroy();
  };

  readonly #drained = (): void => {
    if (!this.#unread) this.socket.resume();
  };

  readonly #gone = (): void => {
    this.#server.connections.delete(this);
    this.socket.destroy();
    this.onGone?.();
    this.onGone = null;
  };

  #handOver(unread: Buffer): void {
    const { socket } = this;
    this.#server.connections.delete(this);
    socket.setTimeout(0);
    socket.off("data", this.#read);
    socket.off("end", this.#end);
    socket.off("timeout", this.#silent);
    socket.off("drain", this.#drained);
    socket.off("error", this.#gone);
    socket.off("close", this.#gone);
    this.#server.options.handOver(socket, unread);
  }
}

/**
 * Serves the plainest requests without the runtime's HTTP server, whose streams are a fifth of what a send costs (decision 9).
 * It reads nothing in a way of its own: a connection on which anything but a plain request comes is handed over for good.
 */
export class PlainServer {
  readonly options: PlainOptions;
  readonly connections = new Set<Connection>();
  /** What a connection that stays is told. */
  readonly alive: string;
  #second = Number.NaN;
  #date = "";

  constructor(options: PlainOptions) {
    this.options = options;
    this.alive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(options.idleMs / 1000)}`;
  }

  accept(socket: Socket): void {
    this.connections.add(new Connection(socket, this));
  }

  /** The Date header, made once a second. */
  date(): string {
    const second = Math.floor(this.options.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#date = new Date(second * 1000).toUTCString();
    }
    return this.#date;
  }

  /** Ends connections that wait for their next request. */
  closeIdle(): void {
    for (const { idle, socket } of this.connections) if (idle) socket.destroy();
  }

  closeAll(): void {
    for (const { socket } of this.connections) socket.destroy();
  }
}
