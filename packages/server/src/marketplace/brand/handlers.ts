import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { getBrand, showBrandSettings, updateBrand } from "./brand.ts";

export const brandHandlers: Handlers<typeof contract.brand> = {
  get: async (_input, { read, deps, workspaceId }) => showBrandSettings(read, deps, await getBrand(read, workspaceId)),
  update: (input, { tx, deps, workspaceId }) => updateBrand(tx, deps, workspaceId, input),
};
