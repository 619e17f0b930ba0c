import { lambdaHandler } from "@mailsvc/agent-kit/lambda";
import { createHelloAgent } from "./agent.ts";
import { openStore } from "./store.ts";

// Inline: Lambda freezes a function after its response, so the response waits for the handlers.
export const handler = lambdaHandler(createHelloAgent({ mode: "inline", store: openStore() }));
