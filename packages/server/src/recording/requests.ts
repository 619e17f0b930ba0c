import type { IncomingMessage, ServerResponse } from "node:http";
import { brotliDecompressSync, constants, gunzipSync } from "node:zlib";
import { MB } from "../lib/units.ts";

/** A request as it came over the network, and its answer. Bodies are cut. */
export interface RecordedRequest {
  /** Real time at which it began, ms. */
  readonly at: number;
  /** The server's time then, ms. */
  readonly clock: number;
  readonly ms: number;
  readonly method: string;
  readonly url: string;
  /** Null if the connection ended without an answer. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RecordedBody;
  readonly answerHeaders: Readonly<Record<string, string>>;
  readonly answer: RecordedBody;
}

interface RecordedBody {
  /** The beginning. */
  readonly text: string;
  /** The size of all of it, in bytes. */
  readonly size: number;
}

// Enough that an error, or a JSON answer with a secret in it, is whole.
const KEPT_OF_BODY = 64 * 1024;
const KEPT_IN_ALL = 32 * MB;

/** Headers without secrets. All others are left out. */
const SHOWN_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "content-encoding",
  "content-length",
  "content-type",
  "host",
  "idempotency-key",
  "idempotency-replayed",
  "location",
  "retry-after",
  "user-agent",
  "x-mailsvc-fault",
  "x-request-id",
]);

interface Times {
  now(): number;
  clock(): number;
}

/** Keeps the latest requests to a server and their answers, up to 32 MB of them. */
export class RequestTap {
  readonly #times: Times;
  readonly #answered: (request: RecordedRequest, authorization: string | undefined) => void;
  readonly #kept: RecordedRequest[] = [];
  #bytes = 0;
  #dropped = 0;

  /** `answered` is called after each request; the key it came with is not kept. */
  constructor(times: Times, answered: (request: RecordedRequest, authorization: string | undefined) => void) {
    this.#times = times;
    this.#answered = answered;
  }

  /** The requests, oldest first, and how many before them were dropped. */
  get all(): { readonly requests: readonly RecordedRequest[]; readonly dropped: number } {
    return { requests: this.#kept, dropped: this.#dropped };
  }

  /** Listens to a request and its answer, without changing either. */
  follow(req: IncomingMessage, res: ServerResponse): void {
    const [at, clock] = [this.#times.now(), this.#times.clock()];
    const sent = new Keeper();
    const answered = new Keeper();
    const answerHeaders: Record<string, string> = {};
    const { push } = req;
    req.push = (chunk: unknown, ...rest: unknown[]) => {
      sent.add(chunk);
      return Reflect.apply(push, req, [chunk, ...rest]);
    };
    const { write, end, writeHead } = res;
    res.write = (chunk: unknown, ...rest: unknown[]) => {
      answered.add(chunk);
      return Reflect.apply(write, res, [chunk, ...rest]);
    };
    res.end = (chunk?: unknown, ...rest: unknown[]) => {
      answered.add(chunk);
      return Reflect.apply(end, res, [chunk, ...rest]);
    };
    res.writeHead = (status: number, ...rest: unknown[]) => {
      for (const given of rest) addHeaders(answerHeaders, given);
      return Reflect.apply(writeHead, res, [status, ...rest]);
    };
    res.once("close", () => {
      addHeaders(answerHeaders, res.getHeaders());
      const headers: Record<string, string> = {};
      addHeaders(headers, req.headers);
      const { method = "", url = "" } = req;
      const status = res.headersSent ? res.statusCode : null;
      const ms = Math.round((this.#times.now() - at) * 10) / 10;
      const answer = answered.body(answerHeaders["content-encoding"]);
      const request = { at, clock, ms, method, url, status, headers, body: sent.body(), answerHeaders, answer };
      this.#keep(request);
      this.#answered(request, req.headers.authorization);
    });
  }

  #keep(request: RecordedRequest): void {
    this.#kept.push(request);
    this.#bytes += measure(request);
    while (this.#bytes > KEPT_IN_ALL) {
      const oldest = this.#kept.shift();
      if (!oldest) return;
      this.#bytes -= measure(oldest);
      this.#dropped += 1;
    }
  }
}

// These flushes take a body that was cut for as much as it says.
const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: (bytes) => brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  gzip: (bytes) => gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }),
};

/** The beginning of a body while it passes. */
class Keeper {
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  #size = 0;

  add(chunk: unknown): void {
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return;
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#size += bytes.length;
    if (this.#kept >= KEPT_OF_BODY) return;
    // A copy: buffers of the network are used again.
    const part = Buffer.from(bytes.subarray(0, KEPT_OF_BODY - this.#kept));
    this.#chunks.push(part);
    this.#kept += part.length;
  }

  /** Text of the bytes that it kept: of a compressed body that is not whole, as far as its beginning says. */
  body(coding?: string): RecordedBody {
    const bytes = Buffer.concat(this.#chunks);
    const decode = coding === undefined ? undefined : DECODERS[coding];
    return { text: (decode ? decode(bytes).subarray(0, KEPT_OF_BODY) : bytes).toString(), size: this.#size };
  }
}

/** Adds the headers that may be shown: from an object, or from a list of names and values by turns. */
function addHeaders(to: Record<string, string>, given: unknown): void {
  if (typeof given !== "object" || given === null) return;
  const pairs = Array.isArray(given)
    ? given.flatMap((name: unknown, i): [unknown, unknown][] =>
        Array.isArray(name) ? [[name[0], name[1]]] : i % 2 === 0 ? [[name, given[i + 1]]] : [],
      )
    : Object.entries(given);
  for (const [name, value] of pairs)
    if (SHOWN_HEADERS.has(String(name).toLowerCase()) && value !== undefined) to[String(name).toLowerCase()] = String(value);
}

function measure({ url, body, answer }: RecordedRequest): number {
  return 1000 + url.length + body.text.length + answer.text.length;
}
