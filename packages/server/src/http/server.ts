import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "srvx/node";
import type { Clock } from "../lib/clock.ts";
import type { InFlightRequests } from "./in-flight.ts";
import type { Router } from "./router.ts";

export interface ListenOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** Serve HTTPS with a certificate made on the spot, for a laptop. */
  https: boolean;
  flight: InFlightRequests;
  real: Clock["real"];
  /** Called for each connection accepted. */
  onConnection: () => void;
}

export interface ListeningServer {
  readonly url: string;
  /** Stops accepting, lets requests end for `graceMs` at most, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

/** The port is taken, or the address is not this machine's. The message says what to do. */
export class ListenError extends Error {
  override name = "ListenError";
}

/** What is answered to a request that could not be read, by the code of the error. */
const UNREAD: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Content Too Large",
};

/** Listens for HTTP. Throws ListenError. */
export async function listen({ h3, direct }: Router, options: ListenOptions): Promise<ListeningServer> {
  const routed = toNodeHandler(h3.fetch) as RequestListener;
  const handler: RequestListener = (req, res) => {
    if (!direct(req, res)) routed(req, res);
  };
  const server = options.https ? await secureServer(handler, options) : createServer(handler);
  harden(server);
  server.on("connection", options.onConnection);
  // A connection that breaks is the client's affair; what it sent that is no HTTP is answered and dropped.
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const status = UNREAD[error.code ?? ""] ?? "400 Bad Request";
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    else socket.destroy();
  });
  if (!options.https) await bind(server, options);
  const { address, family, port } = server.address() as AddressInfo;
  const host = ["0.0.0.0", "::"].includes(address) ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;

  return {
    url: `${options.https ? "https" : "http"}://${host}:${port}`,
    close: async (graceMs) => {
      options.flight.draining = true;
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeIdleConnections();
      const until = options.real.now() + graceMs;
      while (options.flight.count > 0 && options.real.now() < until) {
        await options.real.sleep(10);
        server.closeIdleConnections();
      }
      server.closeAllConnections();
      await closed;
    },
  };
}

function harden(server: Server): void {
  // Slow clients hold a socket, never a worker; still, they are let go in time.
  server.headersTimeout = 10_000;
  // A file of 25 MB over a slow line takes minutes.
  server.requestTimeout = 300_000;
  server.keepAliveTimeout = 65_000;
  server.maxRequestsPerSocket = 0;
}

function bind(server: Server, { host, port }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why: Record<string, string> = {
        EADDRINUSE: `Port ${port} of ${host} is in use. Stop what uses it, or choose another one: --port 0 takes any free one.`,
        EACCES: `Port ${port} needs rights this process does not have. Choose one above 1023.`,
        EADDRNOTAVAIL: `${host} is not an address of this machine.`,
        ENOTFOUND: `${host} is not an address of this machine.`,
      };
      reject(new ListenError(why[error.code ?? ""] ?? `Cannot listen on ${host}:${port}: ${error.code ?? error.message}.`));
    });
    // A storm of connections waits in the kernel until the event loop comes to accept them.
    server.listen({ host, port, backlog: 4096 }, resolve);
  });
}

/** A server with a certificate made by listhen; loaded only when asked for. */
async function secureServer(handler: RequestListener, options: ListenOptions): Promise<Server> {
  const { listen } = await import("listhen");
  const { server } = await listen(handler, {
    hostname: options.host,
    port: options.port,
    https: true,
    isProd: true,
    showURL: false,
    autoClose: false,
  });
  return server as Server;
}
