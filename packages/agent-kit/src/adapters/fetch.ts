import type { Agent } from "../agent.ts";
import { ParsedBodyError } from "../errors.ts";
import type { HandleOptions } from "../intake.ts";
import type { Reply } from "../receive.ts";
import { answerBody, METHOD_NOT_ALLOWED, readBytes } from "./raw-body.ts";

/** Context that a platform passes besides the request; `waitUntil` keeps it alive for work after the response. */
export interface FetchContext {
  waitUntil?(work: Promise<unknown>): void;
}

const REMEDY = "Pass the request before anything reads it: not after request.json() or request.text(), but request.clone() may be read.";

/**
 * A handler of the web's Request and Response: `export const POST = fetchHandler(agent)` in Next.js's app router, `Deno.serve` and
 * `Bun.serve`. In Cloudflare Workers call it as `handler(request, context)`, so that the work after the response is not cut off.
 */
export function fetchHandler(agent: Agent): (request: Request, context?: FetchContext | unknown) => Promise<Response> {
  return (request, context) => handleFetch(agent, request, context, REMEDY);
}

/** @internal */
export async function handleFetch(agent: Agent, request: Request, context: unknown, remedy: string): Promise<Response> {
  const { status, headers, body } = request.method === "POST" ? await handlePost(agent, request, context, remedy) : METHOD_NOT_ALLOWED;
  return new Response(body, { status, headers });
}

async function handlePost(agent: Agent, request: Request, context: unknown, remedy: string): Promise<Reply> {
  return answerBody(
    agent,
    async () => {
      if (request.bodyUsed) throw new ParsedBodyError(remedy);
      return request.body ? readBytes(request.body) : new Uint8Array();
    },
    (body) => agent.handle(body, request.headers, optionsOf(context)),
  );
}

function optionsOf(context: unknown): HandleOptions {
  const platform = context as FetchContext | null | undefined;
  return typeof platform?.waitUntil === "function" ? { waitUntil: (work) => platform.waitUntil?.(work) } : {};
}
