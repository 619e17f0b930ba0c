import type { Server } from "@modelcontextprotocol/server";
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { MINUTE } from "../lib/units.ts";
import { capturesAll } from "./operation-tool.ts";
import { type McpCaller, type McpParts, makeProtocolServer } from "./protocol-server.ts";

/** A connection of the protocol's older era: between its requests the server remembers what the client can do. */
interface Session {
  readonly keyId: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
}

/** The caller of a request over HTTP. */
export interface HttpCaller extends McpCaller {
  /** Id of the key that authenticated the caller. */
  readonly keyId: string;
}

// Sessions hold some kilobytes each. A client whose session is gone begins a new one.
const MAX_SESSIONS = 500;
// A key whose clients begin one after the other ends its own, not those of others.
const MAX_SESSIONS_OF_KEY = 20;
const SESSION_MS = 30 * MINUTE;

interface HttpServiceParts extends McpParts {
  /** A new id that nobody can guess. */
  readonly makeSessionId: () => string;
}

/**
 * Answers MCP requests over HTTP in both eras of the protocol. Requests of the newer era, 2026-07-28, stand alone. So do those of the
 * older one, and any process can answer them, with one exception: a client of the older era that can ask a person gets a session on a
 * server with writes, because the question goes out on a connection and the answer comes on another.
 */
export class McpHttpService {
  readonly #parts: HttpServiceParts;
  readonly #sessions = new LRUCache<string, Session>({
    max: MAX_SESSIONS,
    ttl: SESSION_MS,
    updateAgeOnGet: true,
    dispose: ({ server }) => void server.close().catch(this.#report),
  });

  constructor(parts: HttpServiceParts) {
    this.#parts = parts;
  }

  /** Answers a request whose key was accepted. `body` is its parsed body; undefined without one. */
  async serve(request: Request, body: unknown, caller: HttpCaller): Promise<Response> {
    const sessionId = request.headers.get("mcp-session-id");
    if (sessionId !== null) return this.#serveSession(sessionId, request, body, caller);
    if ((await this.#wantsSession(body, caller)) && (await isLegacyRequest(request, body))) return this.#openSession(request, body, caller);
    const handler = createMcpHandler(() => makeProtocolServer(this.#parts, caller), { responseMode: "auto", onerror: () => undefined });
    return handler.fetch(request, toOptions(body, caller));
  }

  #report = (error: unknown): void => this.#parts.report(error);

  async #serveSession(id: string, request: Request, body: unknown, caller: HttpCaller): Promise<Response> {
    const session = this.#sessions.get(id);
    // Another key's session does not exist for this one.
    if (session?.keyId !== caller.keyId) return refuse(404, -32_001, "There is no such session. Initialize again.");
    const { transport } = session;
    const response = await transport.handleRequest(request, toOptions(body, caller));
    const cancelled = readCancelled(request, body);
    if (cancelled !== null) transport.closeSSEStream(cancelled);
    return response;
  }

  async #openSession(request: Request, body: unknown, caller: HttpCaller): Promise<Response> {
    const server = makeProtocolServer(this.#parts, caller);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: this.#parts.makeSessionId,
      onsessioninitialized: (id) => {
        this.#makeRoom(caller.keyId);
        this.#sessions.set(id, { keyId: caller.keyId, transport, server });
      },
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    await server.connect(transport);
    return transport.handleRequest(request, toOptions(body, caller));
  }

  /** Ends the session of a key that was used least recently, if the key has as many as it may have. */
  #makeRoom(keyId: string): void {
    const own = [...this.#sessions.rkeys()].filter((id) => this.#sessions.peek(id)?.keyId === keyId);
    for (const id of own.slice(0, Math.max(0, own.length - MAX_SESSIONS_OF_KEY + 1))) this.#sessions.delete(id);
  }

  async #wantsSession(body: unknown, { me }: HttpCaller): Promise<boolean> {
    const { dev, writes } = this.#parts.settings;
    if (!isInitializeRequest(body) || body.params.capabilities.elicitation === undefined) return false;
    return dev ? !(await capturesAll(me)) : writes;
  }
}

/**
 * The request that a message cancels, whose stream can be ended, because no answer follows; null for another message. In the revision
 * 2025-03-26, which is that of a request without a header, a stream may carry the answers of others of its batch.
 */
function readCancelled(request: Request, body: unknown): string | number | null {
  if ((request.headers.get("mcp-protocol-version") ?? "2025-03-26") <= "2025-03-26") return null;
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { requestId?: unknown } };
  const id = method === "notifications/cancelled" ? params?.requestId : undefined;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** Questions to a person are bound to the key. The key itself is not passed on. */
function toOptions(parsedBody: unknown, { keyId }: HttpCaller) {
  return { parsedBody, authInfo: { token: keyId, clientId: keyId, scopes: [] } };
}

/** An error of JSON-RPC that belongs to no request. */
function refuse(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
}
