import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Event } from "@mailsvc/sdk/contract";

/** A request that a developer's webhook received. */
interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: Event;
}

/** Reaction of a webhook to a request. A number is the status to answer. */
export type Reaction = (received: Received) => number | ((response: ServerResponse, request: IncomingMessage) => void);

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Replaceable at any time. */
  react: Reaction;
  types(): string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** A developer's webhook on this machine, at a free port unless one is given. */
export async function receiver(react: Reaction = () => 200, port = 0): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const one: Received = { headers: request.headers, body, event: JSON.parse(body) };
      received.push(one);
      const reply = made.react(one);
      if (typeof reply === "number") response.writeHead(reply).end();
      else reply(response, request);
    });
  });
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  const made: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    received,
    react,
    types: () => received.map(({ event }) => event.type),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return made;
}
