import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type H3Event, HTTPResponse as H3Response } from "h3";
import { MINUTE } from "../lib/units.ts";
import { type BodyShare, readNodeBody, readWebBody } from "./body/read.ts";
import type { HeaderReader } from "./headers.ts";
import type { HttpRequest } from "./request.ts";
import { type AnyResponse, isStreamed, writeResponse } from "./response.ts";

// A connection on which nothing moves for this long is dead: streams send a message more often.
const STUCK_MS = MINUTE;

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

  body(limit: number, share?: BodyShare): Promise<Uint8Array> {
    return this.#node ? readNodeBody(this.#node, limit, share) : readWebBody(this.#event.req, limit);
  }

  signal(): AbortSignal {
    return this.#event.req.method === "GET" ? this.leaving() : this.#event.req.signal;
  }

  /** Aborted when the client closes its side of the connection, whatever the method: for a response that may take long. */
  leaving(): AbortSignal {
    const res = this.#event.runtime?.node?.res as ServerResponse | undefined;
    if (this.#node && res) cutWhenLeft(this.#node.socket, res);
    return this.#event.req.signal;
  }

  respond(response: AnyResponse): H3Response {
    return sendResponse(this.#event, response);
  }

  cut(): void {
    this.#node?.socket.destroy();
  }
}

/** Cuts the connection of a read that waits when the client closes its side: it has most likely left, and nothing else would show it. */
function cutWhenLeft(socket: Socket, res: ServerResponse): void {
  const cut = (): void => void socket.destroy();
  if (socket.readableEnded) cut();
  socket.once("end", cut);
  res.once("close", () => socket.off("end", cut));
}

/**
 * Sends the response to a routed request: over its connection, or in process as a value that h3 makes a Response of. It is no Response yet,
 * because h3 recognizes those by the global class, which frameworks such as Hono's server replace while a process runs.
 */
export function sendResponse({ runtime }: Pick<H3Event, "runtime">, response: AnyResponse): H3Response {
  const res = runtime?.node?.res as ServerResponse | undefined;
  const { status, headers, body } = response;
  if (isStreamed(body)) {
    // srvx writes it as fast as the client reads. One that reads nothing for a minute is disconnected.
    res?.setTimeout(STUCK_MS, () => res.destroy());
    return new H3Response(toWebStream(body), { status, headers });
  }
  if (!res) return new H3Response(status === 304 ? null : (body as BodyInit), { status, headers });
  writeResponse(res, { status, headers, body });
  // Nothing is left to write; srvx sees that the response has ended.
  return new H3Response(null);
}

function toWebStream(chunks: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    // Without waiting: the iterator ends when it looks next.
    cancel: () => void iterator.return?.(),
  });
}
