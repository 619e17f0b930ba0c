import type { Agent } from "../agent.ts";
import { ParsedBodyError } from "../errors.ts";
import type { RequestHeaders } from "../receive.ts";
import { takeBody } from "./raw-body.ts";

interface FastifyRequest {
  readonly headers: RequestHeaders;
  readonly body?: unknown;
}

interface FastifyReply {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(body: string): unknown;
}

type Done = (error: Error | null, body?: unknown) => void;

interface FastifyScope {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    options: { parseAs: "buffer" },
    parse: (request: never, body: Uint8Array, done: Done) => void,
  ): unknown;
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}

const REMEDY =
  "In Fastify, register fastifyPlugin(agent) instead of adding the handler to a route: it keeps the raw body in its own scope.";

/**
 * A plugin for Fastify: `app.register(fastifyPlugin(agent, "/webhook"))`. In its own scope the body stays raw; the parsers of the rest
 * of the application are not changed.
 */
export function fastifyPlugin(agent: Agent, path = "/webhook"): (scope: FastifyScope) => Promise<void> {
  return async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    scope.post(path, fastifyHandler(agent));
  };
}

/** A handler for a route whose body is raw, for applications that arrange that themselves. */
export function fastifyHandler(agent: Agent): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  return async (request, response) => {
    const { status, headers, body } = await handleFastify(agent, request);
    response.code(status);
    response.headers({ ...headers });
    return response.send(body);
  };
}

async function handleFastify(agent: Agent, { body, headers }: FastifyRequest) {
  try {
    const raw = takeBody(body, REMEDY);
    if (raw === null && hasBody(headers)) throw new ParsedBodyError(REMEDY);
    return await agent.handle(raw ?? "", headers);
  } catch (error) {
    return agent.refuse(error);
  }
}

/** True if the sender announced a body. Fastify parses none otherwise. */
function hasBody(headers: RequestHeaders): boolean {
  const read = (name: string): unknown =>
    typeof headers.get === "function" ? headers.get(name) : (headers as Record<string, unknown>)[name];
  return read("transfer-encoding") !== undefined || Number(read("content-length") ?? 0) > 0;
}
