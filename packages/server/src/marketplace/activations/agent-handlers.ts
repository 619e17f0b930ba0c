import type { AgentContract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { agentSelf } from "./self.ts";

export const selfHandlers: Handlers<AgentContract["self"]> = {
  get: (_input, { read, agent }) => agentSelf(read, agent.activationId),
};
