import type { Agent } from "../agent.ts";
import { handleFetch } from "./fetch.ts";

interface H3Event {
  readonly req: Request;
  waitUntil?(work: Promise<unknown>): void;
}

const REMEDY = "In h3 and Nitro, call the handler before readBody(event) and before middleware that reads the body.";

/** A handler for h3 version 2, Nitro 3 and Nuxt: `app.post("/webhook", h3Handler(agent))`. */
export function h3Handler(agent: Agent): (event: H3Event) => Promise<Response> {
  return (event) => handleFetch(agent, event.req, event, REMEDY);
}
