import type { buildConnector, Client, Dispatcher } from "undici";
import type { Clock, Timer } from "../lib/clock.ts";
import { AttemptTimeout, BadResponse } from "./attempt.ts";

// Maximum bytes of a response: of its headers, and of its body. The rest is dropped; it may have no end.
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_BODY_BYTES = 16 * 1024;
// Life of an idle connection, and the margin by which it is closed before the time in its Keep-Alive header.
const KEEP_ALIVE_MS = 4000;
const KEEP_ALIVE_MARGIN_MS = 1000;

const NO_BYTES = Buffer.alloc(0);

export interface WebhookRequest {
  readonly path: string;
  /** Names and values in turns. */
  readonly headers: string[];
  readonly body: Buffer;
}

/** Result of a request: a response, or an error. `responding` is true if a part of the response had arrived by then. */
export type Result =
  | { readonly status: number; readonly bytes: Uint8Array; readonly retryAfter: string | null }
  | { readonly error: unknown; readonly responding: boolean };

interface ConnectionOptions {
  readonly Client: typeof Client;
  readonly connect: buildConnector.connector;
  readonly keepAliveMs?: number;
  /** It is closed: nothing more can be sent on it. */
  readonly closed: (connection: Connection) => void;
}

type Socket = NonNullable<Parameters<buildConnector.Callback>[1]>;

/** One connection to a webhook, its own undici Client. It carries one request at a time. */
export class Connection {
  readonly #client: Client;
  readonly #options: ConnectionOptions;
  #socket: Socket | null = null;
  /** Timer of the request in flight. */
  #timer: Timer | null = null;
  #closed = false;

  constructor(origin: string, options: ConnectionOptions) {
    const { connect, keepAliveMs = KEEP_ALIVE_MS } = options;
    this.#options = options;
    this.#client = new options.Client(origin, {
      connect: (to, callback) =>
        connect(to, (...[error, socket]) => {
          if (error) return callback(error, null);
          this.#socket = socket;
          callback(null, socket);
        }),
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#client.once("disconnect", () => this.close());
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Sends a request and calls `done` once, within `limitMs` of real time. */
  send({ path, headers, body }: WebhookRequest, limitMs: number, real: Clock["real"], done: (result: Result) => void): void {
    const exchange = new Exchange((result, complete) => {
      this.#timer?.cancel();
      // A response that came before the whole request was taken: the rest of the request would be read as the next one.
      if (!complete || this.#socket?.writableLength !== 0) this.close();
      done(result);
    });
    this.#timer = real.after(limitMs, () => exchange.timeOut());
    this.#client.dispatch({ path, method: "POST", headers, body }, exchange);
  }

  close(error = new Error("The connection was closed.")): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    void this.#client.destroy(error);
    this.#options.closed(this);
  }
}

/** A request in flight, and what has come of its response. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #done: (result: Result, complete: boolean) => void;
  #ended = false;
  #responding = false;
  #status = 0;
  #retryAfter: string | null = null;
  #chunks: Buffer[] | null = null;
  #read = 0;

  constructor(done: (result: Result, complete: boolean) => void) {
    this.#done = done;
  }

  timeOut(): void {
    this.#end({ error: new AttemptTimeout(), responding: this.#responding }, false);
  }

  onRequestStart(): void {}

  onResponseStarted(): void {
    this.#responding = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx announces the response.
    if (status < 200) return;
    this.#status = status;
    const retryAfter = headers["retry-after"];
    this.#retryAfter = typeof retryAfter === "string" ? retryAfter : null;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
    this.#chunks ??= [];
    // Copied: a part of what was read would keep all of it, up to 64 KiB for each byte.
    this.#chunks.push(Buffer.from(chunk.subarray(0, MAX_BODY_BYTES - this.#read)));
    this.#read += chunk.length;
    if (this.#read > MAX_BODY_BYTES) this.#respond(false);
  }

  onResponseEnd(): void {
    this.#respond(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const bad = toBadResponse(error, this.#status > 0);
    this.#end({ error: bad ?? error, responding: this.#responding || bad !== null }, false);
  }

  #respond(complete: boolean): void {
    const bytes = this.#chunks === null ? NO_BYTES : Buffer.concat(this.#chunks);
    this.#end({ status: this.#status, bytes, retryAfter: this.#retryAfter }, complete);
  }

  #end(result: Result, complete: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#done(result, complete);
  }
}

/** The error as one of a response that breaks the rules; null for any other. `hasHead`: its headers were valid. */
function toBadResponse(error: Error & { code?: string }, hasHead: boolean): BadResponse | null {
  if (error.name === "HTTPParserError") return new BadResponse(/\((.+)\)$/s.exec(error.message)?.[1]?.toLowerCase() ?? "parse error");
  if (error.code === "UND_ERR_HEADERS_OVERFLOW") return new BadResponse(`headers of more than ${MAX_HEADER_BYTES / 1024} KiB`);
  if (error.code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH" && !hasHead) return new BadResponse("content-length is not one number");
  if (error.code === "UND_ERR_SOCKET" && /^bad (?:response|upgrade)$/.test(error.message)) return new BadResponse("unexpected 1xx");
  return null;
}
