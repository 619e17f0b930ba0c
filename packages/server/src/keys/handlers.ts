import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import type { KeyDeps } from "./deps.ts";
import { assertMayGrant, createKey, listKeys, renameKey, revokeKey } from "./keys.ts";

export const keyHandlers: Handlers<typeof contract.keys, KeyDeps> = {
  list: (input, { read, deps, workspaceId }) => listKeys(read, deps, workspaceId, input),
  create: (input, { tx, deps, workspaceId, key }) => {
    assertMayGrant(key, input.permissions);
    return createKey(tx, deps, workspaceId, input);
  },
  update: ({ id, name }, { tx, deps, key }) => renameKey(tx, deps, key, { id, name }),
  revoke: ({ id }, { tx, deps, key }) => revokeKey(tx, deps, key, id),
};
