import type { AgentContract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { listMetadata, metadataOf } from "./lists.ts";

export const agentListHandlers: Handlers<AgentContract["lists"]> = {
  list: (input, { read, workspaceId }) => listMetadata(read, workspaceId, input),
  get: ({ id }, { read, workspaceId }) => metadataOf(read, workspaceId, id),
};
