import type { Agent } from "../agent.ts";
import type { RequestHeaders } from "../receive.ts";
import { handleNode, type NodeRequest } from "./node.ts";
import { METHOD_NOT_ALLOWED } from "./raw-body.ts";

interface KoaContext {
  readonly path: string;
  readonly method: string;
  readonly req: NodeRequest & { readonly headers: RequestHeaders };
  readonly request: { readonly body?: unknown; readonly rawBody?: unknown };
  status: number;
  body: unknown;
  set(headers: Record<string, string>): unknown;
}

const REMEDY = "In Koa, add koaMiddleware(agent) before the body parser.";

/**
 * Middleware for Koa: `app.use(koaMiddleware(agent, "/webhook"))`; other paths are passed on. Without a path it handles every request, as a
 * router needs it.
 */
export function koaMiddleware(agent: Agent, path?: string): (context: KoaContext, next: () => Promise<unknown>) => Promise<unknown> {
  return async (context, next) => {
    if (path !== undefined && context.path !== path) return next();
    const { req, request } = context;
    // A parser leaves what it read at the request of Koa, not at Node's.
    const read = { rawBody: request.rawBody ?? req.rawBody, body: request.body ?? req.body };
    const source: NodeRequest = {
      headers: req.headers,
      readableEnded: req.readableEnded ?? false,
      ...read,
      [Symbol.asyncIterator]: () => req[Symbol.asyncIterator](),
    };
    const reply = context.method === "POST" ? await handleNode(agent, source, REMEDY) : METHOD_NOT_ALLOWED;
    context.status = reply.status;
    context.set({ ...reply.headers });
    context.body = reply.body;
  };
}
