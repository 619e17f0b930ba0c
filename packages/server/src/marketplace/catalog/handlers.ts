import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { getCatalogAgent, listCatalog } from "./catalog.ts";

export const catalogHandlers: Handlers<typeof contract.catalog> = {
  list: (input, { read, deps, workspaceId }) => listCatalog(read, workspaceId, deps.clock.now(), input),
  get: ({ slug }, { read, deps, workspaceId }) => getCatalogAgent(read, workspaceId, deps.clock.now(), slug),
};
