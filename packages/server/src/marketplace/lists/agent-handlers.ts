import type { AgentContract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { getListMetadata, listListMetadata } from "./lists.ts";

export const agentListHandlers: Handlers<AgentContract["lists"]> = {
  list: (input, { read, workspaceId }) => listListMetadata(read, workspaceId, input),
  get: ({ id }, { read, workspaceId }) => getListMetadata(read, workspaceId, id),
};
