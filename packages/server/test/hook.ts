import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { AgentEvent } from "@mailsvc/sdk/contract";

/** A request that a webhook received. */
export interface Call {
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly event: AgentEvent;
  /** Counts from 1 per connection. */
  readonly onConnection: number;
}

/** Reaction of a webhook to the n-th request, counted from 0. A number is the status to answer. */
export type Script = (n: number, call: Call) => number | ((response: ServerResponse, request: IncomingMessage) => void);

export interface Hook {
  readonly url: string;
  readonly port: number;
  readonly calls: Call[];
  /** Replaceable at any time. */
  script: Script;
  /** The types of the received events, with repeats. */
  types(): string[];
  [Symbol.asyncDispose](): Promise<void>;
}

const served = new WeakMap<object, number>();

/** A builder's webhook on this machine, with a script. */
export async function hook(script: Script = () => 200, tls?: ServerOptions): Promise<Hook> {
  const calls: Call[] = [];
  const listen = (request: IncomingMessage, response: ServerResponse): void => {
    const onConnection = (served.get(request.socket) ?? 0) + 1;
    served.set(request.socket, onConnection);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const bytes = Buffer.concat(chunks);
      const call: Call = { headers: request.headers, bytes, event: AgentEvent.parse(JSON.parse(bytes.toString())), onConnection };
      calls.push(call);
      const reply = made.script(calls.length - 1, call);
      if (typeof reply === "number") response.writeHead(reply).end();
      else reply(response, request);
    });
  };
  const server: Server = tls ? createSecureServer(tls, listen) : createServer(listen);
  server.on("clientError", (_error, socket) => socket.destroy());
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const made: Hook = {
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}/webhook`,
    port,
    calls,
    script,
    types: () => calls.map(({ event }) => event.type),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return made;
}
