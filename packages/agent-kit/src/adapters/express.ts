import type { Agent } from "../agent.ts";
import { handleNode, type NodeRequest } from "./node.ts";

interface ExpressResponse {
  status(code: number): unknown;
  set(headers: Record<string, string>): unknown;
  send(body: string): unknown;
}

const REMEDY =
  'In Express, add this route before app.use(express.json()), or give it its own parser: app.post("/webhook", express.raw({ type: "*/*" }), expressHandler(agent)).';

/** A route handler for Express: `app.post("/webhook", expressHandler(agent))`. It reads the raw body, or takes that of `express.raw()`. */
export function expressHandler(agent: Agent): (request: NodeRequest, response: ExpressResponse) => Promise<void> {
  return async (request, response) => {
    const { status, headers, body } = await handleNode(agent, request, REMEDY);
    response.status(status);
    response.set({ ...headers });
    response.send(body);
  };
}
