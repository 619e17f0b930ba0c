import { type contract, served } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { buildOpenApi } from "../http/openapi.ts";
import { checkReadiness } from "./readiness.ts";

let document: Record<string, unknown> | undefined;

export const healthHandlers: Handlers<typeof contract.health> = {
  live: async (_input, { deps }) => ({ status: "ok", version: deps.version }),
  ready: (_input, { deps }) => checkReadiness(deps),
  openapi: async () => {
    document ??= buildOpenApi(served) as Record<string, unknown>;
    return document;
  },
};
