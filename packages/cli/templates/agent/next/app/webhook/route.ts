import { fetchHandler } from "@mailsvc/agent-kit/fetch";
import { createHelloAgent } from "../../agent.ts";
import { openStore } from "../../store.ts";

export const runtime = "nodejs";

let webhook: ReturnType<typeof fetchHandler> | undefined;

/** The webhook. Its agent is made by the first request, because `next build` loads this file without its settings. */
export function POST(request: Request): Promise<Response> {
  // Inline: a platform may stop the process after its response, so the response waits for the handlers.
  webhook ??= fetchHandler(createHelloAgent({ mode: "inline", store: openStore() }));
  return webhook(request);
}
