import type { AgentContract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { selfHandlers } from "./activations/agent-handlers.ts";

/** The one list of what agents may call. A missing handler does not compile. */
export const agentHandlers: { readonly [G in keyof AgentContract]: Handlers<AgentContract[G]> } = {
  self: selfHandlers,
};
