import type { IncomingMessage, ServerResponse } from "node:http";
import { type H3Event, HTTPResponse as H3Response } from "h3";
import { readNodeBody, readWebBody } from "./body/read.ts";
import type { HeaderReader } from "./headers.ts";
import { type AnyResponse, isStreamed, sendResponse, writeResponse } from "./response.ts";

/** A request and the way to respond to it, however it arrived. */
export interface HttpRequest {
  readonly headers: HeaderReader;
  /** The IP address of the peer; undefined in process, where there is no connection. */
  readonly remoteAddress: string | undefined;
  pathname(): string;
  search(): URLSearchParams;
  /** The path parameters, still encoded. */
  params(): Readonly<Record<string, string>>;
  /** Reads the body, at most `limit` bytes. Throws ApiError payload_too_large. */
  body(limit: number): Promise<Uint8Array>;
  /** Aborted when the client disconnects. */
  signal(): AbortSignal;
  respond(response: AnyResponse): H3Response;
  /** Ends the connection without a response. */
  cut(): void;
}

/** A request that came through h3's router, over a connection or in process. */
export class RoutedRequest implements HttpRequest {
  readonly #event: H3Event;
  readonly #node: IncomingMessage | undefined;

  constructor(event: H3Event) {
    this.#event = event;
    this.#node = event.runtime?.node?.req as IncomingMessage | undefined;
  }

  get headers(): HeaderReader {
    return this.#event.req.headers;
  }

  get remoteAddress(): string | undefined {
    return this.#node?.socket.remoteAddress;
  }

  pathname(): string {
    return this.#event.url.pathname;
  }

  search(): URLSearchParams {
    return this.#event.url.searchParams;
  }

  params(): Readonly<Record<string, string>> {
    return this.#event.context.params ?? {};
  }

  body(limit: number): Promise<Uint8Array> {
    return this.#node ? readNodeBody(this.#node, limit) : readWebBody(this.#event.req, limit);
  }

  signal(): AbortSignal {
    return this.#event.req.signal;
  }

  respond(response: AnyResponse): H3Response {
    return sendResponse(this.#event, response);
  }

  cut(): void {
    this.#node?.socket.destroy();
  }
}

const NO_PARAMS: Readonly<Record<string, string>> = {};
const NO_SEARCH = new URLSearchParams();
const WRITTEN = new H3Response(null);

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
    const value = this.#req.headers[name];
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

  body(limit: number): Promise<Uint8Array> {
    return readNodeBody(this.#req, limit);
  }

  signal(): AbortSignal {
    const disconnected = new AbortController();
    this.#res.once("close", () => disconnected.abort());
    return disconnected.signal;
  }

  respond(response: AnyResponse): H3Response {
    const { status, headers, body } = response;
    if (isStreamed(body)) throw new Error("Only reads are streamed, and those go through the router.");
    writeResponse(this.#res, { status, headers, body });
    return WRITTEN;
  }

  cut(): void {
    this.#req.socket.destroy();
  }
}
