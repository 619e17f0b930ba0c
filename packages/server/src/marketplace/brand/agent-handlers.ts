import type { AgentContract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { getBrand, showBrand } from "./brand.ts";

export const agentBrandHandlers: Handlers<AgentContract["brand"]> = {
  get: async (_input, { read, deps, workspaceId }) => showBrand(read, deps, await getBrand(read, workspaceId)),
};
