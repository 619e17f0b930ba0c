import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request as the server saw it. */
interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Server's handling of one request. */
export type Reply = (response: ServerResponse, request: Received) => void;

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) =>
    response.writeHead(status, { "content-type": "application/json", "x-request-id": "req_1", ...headers }).end(JSON.stringify(body));
}

/** The service's own error body. */
export function fault(status: number, code: string, headers: Record<string, string> = {}): Reply {
  return json(status, { error: { code, message: `It was ${code}.`, status, requestId: "req_1", details: [], hint: "" } }, headers);
}

export function html(status: number, headers: Record<string, string> = {}): Reply {
  return (response) => response.writeHead(status, { "content-type": "text/html", ...headers }).end("<h1>Bad Gateway</h1>");
}

/** Cuts the connection instead of answering. */
export const reset: Reply = (response) => response.socket?.resetAndDestroy();

/** Promises 1000 bytes, sends a few, and cuts the connection. */
export const resetMidBody: Reply = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"id":"em_1"', () => response.socket?.resetAndDestroy());
};

/** Sends the head and half of a body, and no more. */
export const stallMidBody: Reply = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"id":"em_1"');
};

/** Never answers. */
export const hang: Reply = () => {};

/** A server on loopback that answers its requests by the script; the last reply stands for all that follow. */
export async function scriptedServer(...script: Reply[]) {
  const received: Received[] = [];
  let heard = (): void => {};
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const seen = { method, url, headers, body: await text(request) };
    const reply = script[Math.min(received.length, script.length - 1)];
    received.push(seen);
    heard();
    reply?.(response, seen);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    /** Resolves when the server has heard `count` requests. */
    heard: async (count: number): Promise<void> => {
      while (received.length < count) await new Promise<void>((next) => (heard = next));
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
