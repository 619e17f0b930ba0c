import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { iso } from "../lib/clock.ts";
import { getWorkspace } from "../workspaces/workspaces.ts";
import { assertMayGrant, createKey, getKey, listKeys, revokeKey } from "./keys.ts";

export const keyHandlers: Handlers<typeof contract.keys> = {
  list: (input, { read, workspaceId }) => listKeys(read, workspaceId, input),
  create: (input, { tx, deps, workspaceId, key }) => {
    assertMayGrant(key, input.permissions);
    return createKey(tx, deps, workspaceId, input);
  },
  revoke: ({ id }, { tx, deps, workspaceId }) => revokeKey(tx, deps, workspaceId, id),
};

export const meHandlers: Handlers<typeof contract.me> = {
  get: async (_input, { read, deps, workspaceId, key }) => ({
    workspace: await getWorkspace(read, workspaceId),
    key: await getKey(read, key.id),
    server: { version: deps.version, dev: deps.config.dev, mailer: deps.mailer.name, now: iso(deps.clock.now()) },
  }),
};
