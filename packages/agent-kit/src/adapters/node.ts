import type { IncomingMessage, ServerResponse } from "node:http";
import type { Agent } from "../agent.ts";
import { ParsedBodyError } from "../errors.ts";
import type { Reply, RequestHeaders } from "../receive.ts";

/** A request of Node's HTTP server, with what frameworks and platforms add to it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly headers: RequestHeaders;
  readonly readableEnded?: boolean;
  readonly destroyed?: boolean;
  /** The raw bytes, on platforms that parse the body but keep it. */
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

const REMEDY =
  "Handle the webhook before anything reads the request. In Next.js's pages router, export const config = { api: { bodyParser: false } }.";
const MAX_BODY = 1_048_576;

/** A listener for `http.createServer`, and for everything that takes Node's request and response. Answers 405 to other methods than POST. */
export function nodeHandler(agent: Agent): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const reply = request.method === "POST" ? await handleNode(agent, request, REMEDY) : METHOD_NOT_ALLOWED;
    response.writeHead(reply.status, { ...reply.headers }).end(reply.body);
  };
}

/** @internal */
export const METHOD_NOT_ALLOWED: Reply = {
  status: 405,
  headers: { allow: "POST", "content-type": "application/json" },
  body: '{"error":"method_not_allowed"}',
};

/** @internal Reads the raw body of a Node request and hands it to the agent. */
export async function handleNode(agent: Agent, request: NodeRequest, remedy: string): Promise<Reply> {
  try {
    return await agent.handle(await readRaw(request, remedy), request.headers);
  } catch (error) {
    return agent.refuse(error);
  }
}

/** @internal A body that a framework has already read: as bytes or text, or null if it is still to be read. Throws ParsedBodyError. */
export function takeBody(body: unknown, remedy: string): Uint8Array | string | null {
  if (body instanceof Uint8Array || typeof body === "string") return body;
  if (body === undefined || body === null) return null;
  throw new ParsedBodyError(remedy);
}

async function readRaw(request: NodeRequest, remedy: string): Promise<Uint8Array | string> {
  const raw = request.rawBody;
  if (raw instanceof Uint8Array || typeof raw === "string") return raw;
  const taken = takeBody(request.body, remedy);
  if (taken !== null) return taken;
  if (request.readableEnded || request.destroyed) throw new ParsedBodyError(remedy);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    // The rest is read and dropped, so that the answer arrives; the agent refuses what is too long.
    if (length - chunk.length <= MAX_BODY) chunks.push(chunk);
  }
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
