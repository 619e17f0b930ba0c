import type { IncomingMessage, ServerResponse } from "node:http";
import type { Agent } from "../agent.ts";
import { ParsedBodyError } from "../errors.ts";
import type { Reply, RequestHeaders } from "../receive.ts";
import { answerBody, METHOD_NOT_ALLOWED, readBytes, takeBody } from "./raw-body.ts";

/** A request of Node's HTTP server, with what frameworks and platforms add to it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly headers: RequestHeaders;
  readonly readableEnded?: boolean;
  /** The raw bytes, on platforms that parse the body but keep it. */
  readonly rawBody?: unknown;
  readonly body?: unknown;
}

const REMEDY =
  "Handle the webhook before anything reads the request. In Next.js's pages router, export const config = { api: { bodyParser: false } }.";

/** A listener for `http.createServer`, and for everything that takes Node's request and response. Answers 405 to other methods than POST. */
export function nodeHandler(agent: Agent): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const reply = request.method === "POST" ? await handleNode(agent, request, REMEDY) : METHOD_NOT_ALLOWED;
    response.writeHead(reply.status, { ...reply.headers }).end(reply.body);
  };
}

/** @internal Reads the raw body of a Node request and hands it to the agent. */
export async function handleNode(agent: Agent, request: NodeRequest, remedy: string): Promise<Reply> {
  return answerBody(
    agent,
    () => readRaw(request, remedy),
    (body) => agent.handle(body, request.headers),
  );
}

async function readRaw(request: NodeRequest, remedy: string): Promise<Uint8Array | string> {
  const raw = request.rawBody;
  if (raw instanceof Uint8Array || typeof raw === "string") return raw;
  const taken = takeBody(request.body, remedy);
  if (taken !== null) return taken;
  // Destroyed without having ended: the sender went away.
  if (request.readableEnded) throw new ParsedBodyError(remedy);
  return readBytes(request);
}
