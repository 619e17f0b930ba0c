import { createServer, type Server } from "node:http";
import type { Received } from "./agent.ts";

/** An HTTP server for an agent's webhook. `onError` gets errors of work that continued after the response. */
export function createWebhook(
  agent: { receive(body: Uint8Array, signature: string): Received },
  onError: (error: unknown) => void,
): Server {
  return createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { status, work } = agent.receive(Buffer.concat(chunks), String(request.headers["x-service-signature"] ?? ""));
    response.writeHead(status).end();
    await work.catch(onError);
  });
}
