import type { Agent } from "../agent.ts";
import { handleFetch } from "./fetch.ts";

interface HonoContext {
  readonly req: { readonly raw: Request };
  /** Throws on platforms without one. */
  readonly executionCtx: unknown;
}

const REMEDY = "In Hono, add the route before middleware that calls c.req.json(), c.req.parseBody() or a body validator.";

/** A handler for Hono: `app.post("/webhook", honoHandler(agent))`. */
export function honoHandler(agent: Agent): (context: HonoContext) => Promise<Response> {
  return (context) => handleFetch(agent, context.req.raw, executionContextOf(context), REMEDY);
}

function executionContextOf(context: HonoContext): unknown {
  try {
    return context.executionCtx;
  } catch {
    return undefined;
  }
}
