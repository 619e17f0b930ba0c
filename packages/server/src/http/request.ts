import type { IncomingMessage, ServerResponse } from "node:http";
import type { HTTPResponse as H3Response } from "h3";
import { type BodyShare, readNodeBody } from "./body/read.ts";
import type { HeaderReader } from "./headers.ts";
import { type AnyResponse, isStreamed, writeResponse } from "./response.ts";

/** A request and the way to respond to it, however it arrived. */
export interface HttpRequest {
  readonly headers: HeaderReader;
  /** The IP address of the peer; undefined in process, where there is no connection. */
  readonly remoteAddress: string | undefined;
  pathname(): string;
  search(): URLSearchParams;
  /** The path parameters, still encoded. */
  params(): Readonly<Record<string, string>>;
  /** Reads the body, at most `limit` bytes; a large one once it has its share of memory. Throws ApiError payload_too_large. */
  body(limit: number, share?: BodyShare): Promise<Uint8Array>;
  /** Aborted when the client disconnects; of a read, also when it closes its side of the connection. */
  signal(): AbortSignal;
  /** Responds; gives what h3 makes a response of, and undefined for a request that did not come through it. */
  respond(response: AnyResponse): H3Response | undefined;
  /** Ends the connection without a response. */
  cut(): void;
}

const NO_PARAMS: Readonly<Record<string, string>> = {};
const NO_SEARCH = new URLSearchParams();

/** A request to a path without parameters or query: it skips the router, which saves a quarter of a small request. */
export class DirectRequest implements HttpRequest, HeaderReader {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly headers: HeaderReader = this;

  constructor(req: IncomingMessage, res: ServerResponse) {
    this.#req = req;
    this.#res = res;
  }

  get(name: string): string | null {
    const value = this.#req.headers[name.toLowerCase()];
    return value === undefined ? null : String(value);
  }

  get remoteAddress(): string | undefined {
    return this.#req.socket.remoteAddress;
  }

  pathname(): string {
    return this.#req.url ?? "/";
  }

  search(): URLSearchParams {
    return NO_SEARCH;
  }

  params(): Readonly<Record<string, string>> {
    return NO_PARAMS;
  }

  body(limit: number, share?: BodyShare): Promise<Uint8Array> {
    return readNodeBody(this.#req, limit, share);
  }

  signal(): AbortSignal {
    const disconnected = new AbortController();
    this.#res.once("close", () => disconnected.abort());
    return disconnected.signal;
  }

  respond(response: AnyResponse): undefined {
    const { status, headers, body } = response;
    if (isStreamed(body)) throw new Error("Only reads are streamed, and those go through the router.");
    writeResponse(this.#res, { status, headers, body });
  }

  cut(): void {
    this.#req.socket.destroy();
  }
}
