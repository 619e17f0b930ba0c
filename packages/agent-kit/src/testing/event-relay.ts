import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, request as requestHttp, type Server, type ServerResponse } from "node:http";
import { request as requestHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { currentTime } from "../runtime.ts";

/** An event that the agent has answered. */
interface RelayedEvent {
  readonly type: string;
  readonly activationId: string;
  /** Time at which the answer arrived, ms since 1970, by this machine. */
  readonly at: number;
}

/** Something that begins at the acknowledgement of an event. */
interface Trap {
  readonly type: string;
  readonly act: () => void;
}

/** Stands between the service and the agent under test, and hands events and answers on as they are. */
export class EventRelay {
  readonly url: string;
  readonly events: readonly RelayedEvent[];
  /** The keys that were delivered, by activation. */
  readonly keys: ReadonlyMap<string, string>;
  readonly #server: Server;
  #trap: Trap | null = null;

  private constructor(server: Server, target: URL, events: RelayedEvent[], keys: Map<string, string>) {
    this.#server = server;
    this.events = events;
    this.keys = keys;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname}${target.search}`;
  }

  /** Listens on a port of this machine for the events of an agent at this address. */
  static async open(target: URL): Promise<EventRelay> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const events: RelayedEvent[] = [];
    const keys = new Map<string, string>();
    const relay = new EventRelay(server, target, events, keys);
    server.on("request", (request, response) => {
      relay.#pass(request, target, events, keys).then(
        ({ status, body }) => answer(response, status, body),
        (error: Error & { code?: string }) =>
          answer(response, 502, Buffer.from(`The agent gave no answer: ${error.code ?? error.message}`)),
      );
    });
    return relay;
  }

  /** Begins this at the next acknowledgement of an event of this type. The service is not kept waiting for its end. */
  atAcknowledgement(type: string, act: () => void): void {
    this.#trap = { type, act };
  }

  /** Forgets what was to be begun. */
  disarm(): void {
    this.#trap = null;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  async #pass(request: IncomingMessage, target: URL, events: RelayedEvent[], keys: Map<string, string>) {
    const body = await readAll(request);
    const event = JSON.parse(body.toString()) as { type: string; activationId: string; apiKey?: string };
    if (event.apiKey) keys.set(event.activationId, event.apiKey);
    const answered = await send(request, target, body);
    events.push({ type: event.type, activationId: event.activationId, at: currentTime() });
    const trap = this.#trap;
    if (trap?.type === event.type && answered.status >= 200 && answered.status < 300) {
      this.#trap = null;
      trap.act();
    }
    return answered;
  }
}

function answer(response: ServerResponse, status: number, body: Buffer): void {
  response.writeHead(status).end(body);
}

function send({ method, headers }: IncomingMessage, target: URL, body: Buffer): Promise<{ status: number; body: Buffer }> {
  const request = target.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const { connection: _, ...own } = headers;
    const outgoing = request(target, { method, headers: { ...own, host: target.host }, agent: false }, (response) => {
      readAll(response).then((answered) => resolve({ status: response.statusCode ?? 502, body: answered }), reject);
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
