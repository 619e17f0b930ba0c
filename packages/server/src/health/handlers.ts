import { type contract, served } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { buildOpenApi } from "../http/openapi.ts";

let document: Record<string, unknown> | undefined;

export const healthHandlers: Handlers<typeof contract.health> = {
  live: async (_input, { deps }) => ({ status: "ok", version: deps.version }),
  ready: async (_input, { deps }) => {
    await deps.db.ping();
    return { status: "ready", version: deps.version };
  },
  openapi: async () => {
    document ??= buildOpenApi(served) as Record<string, unknown>;
    return document;
  },
};
