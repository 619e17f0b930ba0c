import { createServer, type Server } from "node:http";
import type { Heard } from "./agent.ts";

/** Puts an agent behind HTTP. `failed` hears of work that came to nothing. */
export const serve = (agent: { hear(body: Uint8Array, signature: string): Heard }, failed: (error: unknown) => void): Server =>
  createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { status, work } = agent.hear(Buffer.concat(chunks), String(request.headers["x-service-signature"] ?? ""));
    response.writeHead(status).end();
    await work.catch(failed);
  });
