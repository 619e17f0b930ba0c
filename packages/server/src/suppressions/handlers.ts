import { addressKey, type contract, parseAddress } from "@mailsvc/sdk/contract";
import { noteSuppressed } from "../contacts/contacts.ts";
import type { Handlers } from "../http/handler.ts";
import { importSuppressions, removeSuppressions } from "./bulk.ts";
import { getSuppression, listSuppressions, suppress, unsuppress } from "./suppressions.ts";

export const suppressionHandlers: Handlers<typeof contract.suppressions> = {
  list: (input, { read, workspaceId }) => listSuppressions(read, workspaceId, input),
  create: async ({ email, ...rest }, { tx, deps, workspaceId }) => {
    const address = parseAddress(email).address;
    const entry = await suppress(tx, deps, workspaceId, { ...rest, email: address, source: "api" });
    await noteSuppressed(tx, deps, workspaceId, [{ email: addressKey(address), reason: rest.reason }], "api");
    return entry;
  },
  import: (input, { tx, deps, workspaceId }) => importSuppressions(tx, deps, workspaceId, input),
  remove: ({ entries }, { tx, deps, workspaceId }) => removeSuppressions(tx, deps, workspaceId, entries),
  get: ({ id }, { read, workspaceId }) => getSuppression(read, workspaceId, id),
  delete: ({ id }, { tx, deps, workspaceId }) => unsuppress(tx, deps, workspaceId, id),
};
