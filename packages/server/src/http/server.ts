import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import type { ErrorCode } from "@mailsvc/sdk/contract";
import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import { MINUTE } from "../lib/units.ts";
import type { InFlightRequests } from "./in-flight.ts";
import { toListenError } from "./listen-error.ts";
import { Pipelines } from "./pipeline.ts";
import { type HttpResponse, writeResponse } from "./response.ts";
import { PROBES, type Router } from "./router.ts";
import { TurnBudget } from "./turn-budget.ts";

interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** A listening socket that a supervisor holds open, in place of `host` and `port`: connections wait there while no server runs. */
  readonly fd: number | null;
  /** Serve HTTPS with a certificate made at start, for a laptop. */
  readonly https: boolean;
  readonly inFlight: InFlightRequests;
  readonly real: Clock["real"];
  readonly log: Log;
  /** Open connections at most; further ones are closed at once. */
  readonly maxConnections: number;
  /** Time limit for a client to send the head of a request, ms. */
  readonly headersTimeoutMs?: number;
  /** Put before the path of each request that lacks it, for clients that cannot. */
  readonly prefix?: `/${string}`;
  /** Called for each connection accepted. */
  readonly onConnection: () => void;
  /** Listens to every request and its answer; null when nothing does. */
  readonly tap?: ((req: IncomingMessage, res: ServerResponse) => void) | null;
}

interface ListeningServer {
  readonly url: string;
  /**
   * Stops accepting, waits at most `graceMs` for requests to end, then closes all connections. A request on a connection that was opened or
   * used a moment ago may be on its way: for a quarter of a second such connections are kept open, and their next response closes them.
   */
  close(graceMs: number): Promise<void>;
}

// A slow client holds a connection only, yet it is closed in time.
const HEADERS_TIMEOUT_MS = 10_000;
// A file of 25 MB takes minutes over a slow line.
const REQUEST_TIMEOUT_MS = 5 * MINUTE;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
// A storm of connections waits in the kernel until the event loop accepts them, one per turn.
const BACKLOG = 4096;
const DRAIN_POLL_MS = 10;
// Connections that wait in the kernel are accepted for this long before the server stops listening, which would reset them.
const ACCEPT_MS = 250;
// A connection that was opened or used within this time may be used again at any moment; when the server stops, it has a moment for that.
const RECENT_MS = 10_000;
const LINGER_MS = 250;
// The log says at most this often that connections are refused.
const DROP_LOG_MS = 10_000;

/** The error for a request that could not be parsed, by the code that Node gives. */
const UNPARSED: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "The request did not arrive in time."],
  HPE_HEADER_OVERFLOW: ["headers_too_large", "The head of the request is too large."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["payload_too_large", "The extensions of the chunks of the body are too large."],
};

const NOT_HTTP = ["validation_error", "The request is not valid HTTP."] as const;

/** Listens for HTTP. Throws ListenError. */
export async function listen(router: Router, options: ListenOptions): Promise<ListeningServer> {
  const budget = new TurnBudget(options.real);
  const pipelines = new Pipelines();
  const recent = new RecentConnections(options.real);
  const serveRouted = routeLazily(router, options.log);
  const serve: RequestListener = (req, res) => {
    if (!router.serveDirectly(req, res)) serveRouted(req, res);
  };
  const { tap = null, prefix } = options;
  const refuse = (res: ServerResponse, code: ErrorCode, message: string): void => {
    const response = router.refuse(new ApiError(code, message));
    writeResponse(res, { ...response, headers: [...response.headers, ["connection", "close"]] });
  };
  const handler: RequestListener = (req, res) => {
    // RFC 9112 3.2: another program on the way may have read another one of two hosts.
    if (countHosts(req) !== 1 && (countHosts(req) > 1 || req.httpVersion !== "1.0"))
      return refuse(res, "validation_error", "The request needs exactly one Host header.");
    if (prefix !== undefined && !req.url?.startsWith(`${prefix}/`)) req.url = prefix + (req.url ?? "");
    tap?.(req, res);
    const pipeline = pipelines.of(req);
    pipeline.add(res);
    recent.use(req.socket);
    if (PROBES.has(req.url ?? "")) serve(req, res);
    else budget.run(pipeline, () => serve(req, res));
  };
  const headersTimeout = options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS;
  const server = options.https
    ? await createSecureServer(handler, options)
    : // Node looks for connections beyond their time in this interval; its default of 30 s would triple the limit.
      createServer({ connectionsCheckingInterval: headersTimeout / 10 }, handler);
  server.headersTimeout = headersTimeout;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.maxRequestsPerSocket = 0;
  server.maxConnections = options.maxConnections;
  // The check above answers requests without a Host header, so that the answer has a body.
  Object.assign(server, { requireHostHeader: false });
  server.on("checkExpectation", (_req, res) => refuse(res, "expectation_failed", "The server meets no expectation but 100-continue."));
  // A client may close its side after its request, and gets its response. Reads that wait end then (RoutedRequest.signal).
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("connection", (socket) => {
    recent.use(socket);
    budget.connectionAccepted();
    options.onConnection();
  });
  logDroppedConnections(server, options);
  // A broken connection is the client's affair; bytes that are not HTTP are answered, and the connection closed.
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const [code, message] = UNPARSED[error.code ?? ""] ?? NOT_HTTP;
    // A client that sent many requests would take the answer for that of an earlier one.
    const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT" && pipelines.isPaused(socket);
    if (socket.writable && !isLate) socket.end(toBytes(router.refuse(new ApiError(code, message))));
    else socket.destroy();
  });
  if (!options.https) await bind(server, options);
  const { address, family, port } = server.address() as AddressInfo;
  const host = ["0.0.0.0", "::"].includes(address) ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;

  return {
    url: `${options.https ? "https" : "http"}://${host}:${port}`,
    close: async (graceMs) => {
      const { inFlight, real } = options;
      inFlight.draining = true;
      // A connection that comes between the last look and the end of listening is reset, so turns are short until then.
      budget.pause();
      await acceptWaiting(server, real);
      // The `close` of an HTTP server closes idle connections at once.
      const closed = new Promise<void>((done) => NetServer.prototype.close.call(server, () => done()));
      budget.resume();
      const until = real.now() + graceMs;
      const lingerUntil = Math.min(until, real.now() + LINGER_MS);
      const atWork = recent.list(RECENT_MS);
      while (real.now() < lingerUntil && atWork.some((socket) => !socket.destroyed)) await real.sleep(DRAIN_POLL_MS);
      // Requests that have arrived meanwhile are read first.
      await yieldToEventLoop();
      server.close();
      while (inFlight.count + budget.waiting > 0 && real.now() < until) {
        await real.sleep(DRAIN_POLL_MS);
        server.closeIdleConnections();
      }
      server.closeAllConnections();
      await closed;
    },
  };
}

function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === "host") count += 1;
  return count;
}

/** A response as it goes over a connection whose request Node could not parse. */
function toBytes({ status, headers, body }: HttpResponse): string {
  const lines = [...headers, ["content-length", String(Buffer.byteLength(body))], ["connection", "close"]];
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}

/** Waits until a whole turn of the event loop accepts no connection: none waits in the kernel then. */
async function acceptWaiting(server: Server, real: Clock["real"]): Promise<void> {
  const until = real.now() + ACCEPT_MS;
  let accepted = false;
  const note = (): void => void (accepted = true);
  server.on("connection", note);
  // The rest of this turn may be past accepting.
  await yieldToEventLoop();
  do {
    accepted = false;
    await yieldToEventLoop();
  } while (accepted && real.now() < until);
  server.off("connection", note);
}

/** Serves requests with h3, which is loaded at the first of them. */
function routeLazily(router: Router, log: Log): RequestListener {
  let route: RequestListener | undefined;
  const load = async (): Promise<RequestListener> => {
    const [{ toNodeHandler }, h3] = await Promise.all([import("srvx/node"), router.routed()]);
    return toNodeHandler(h3.fetch) as RequestListener;
  };
  let loading: Promise<RequestListener> | undefined;
  return (req, res) => {
    if (route) return route(req, res);
    loading ??= load();
    loading.then(
      (loaded) => {
        route = loaded;
        loaded(req, res);
      },
      (error: unknown) => {
        log.error("requests cannot be routed", { error: String(error) });
        res.destroy();
      },
    );
  };
}

function logDroppedConnections(server: Server, { log, real, maxConnections }: ListenOptions): void {
  let dropped = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  server.on("drop", () => {
    dropped += 1;
    if (real.now() - loggedAt < DROP_LOG_MS) return;
    log.warn("connections refused: --max-connections reached", { dropped, maxConnections });
    loggedAt = real.now();
    dropped = 0;
  });
}

function bind(server: Server, { host, port, fd }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(toListenError(error, { host, port })));
    server.listen(fd === null ? { host, port, backlog: BACKLOG } : { fd, backlog: BACKLOG }, resolve);
  });
}

/** A server with a certificate made by listhen, which is loaded only when it is needed. */
async function createSecureServer(handler: RequestListener, options: ListenOptions): Promise<Server> {
  const { listen } = await import("listhen");
  const { server } = await listen(handler, {
    hostname: options.host,
    // Without `random`, listhen takes 0 for 3000.
    port: options.port === 0 ? { port: 0, random: true } : options.port,
    https: true,
    isProd: true,
    showURL: false,
    autoClose: false,
  });
  return server as Server;
}

/** Knows which open connections had a request lately. */
class RecentConnections {
  readonly #real: Clock["real"];
  /** Time of the last request of each open connection, ms. */
  readonly #usedAt = new Map<Duplex, number>();

  constructor(real: Clock["real"]) {
    this.#real = real;
  }

  /** Remembers that a request has come on a connection. */
  use(socket: Duplex): void {
    if (!this.#usedAt.has(socket)) socket.once("close", () => void this.#usedAt.delete(socket));
    this.#usedAt.set(socket, this.#real.now());
  }

  /** The open connections that had a request within the last `ms`. */
  list(ms: number): readonly Duplex[] {
    const since = this.#real.now() - ms;
    return [...this.#usedAt].filter(([, usedAt]) => usedAt >= since).map(([socket]) => socket);
  }
}
