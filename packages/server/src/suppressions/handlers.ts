import { type contract, parseAddress } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { importSuppressions, removeSuppressions } from "./bulk.ts";
import { getSuppression, listSuppressions, suppress, unsuppress } from "./suppressions.ts";

export const suppressionHandlers: Handlers<typeof contract.suppressions> = {
  list: (input, { read, workspaceId }) => listSuppressions(read, workspaceId, input),
  create: ({ email, ...rest }, { tx, deps, workspaceId }) =>
    suppress(tx, deps, workspaceId, { ...rest, email: parseAddress(email).address, source: "api" }),
  import: (input, { tx, deps, workspaceId }) => importSuppressions(tx, deps, workspaceId, input),
  remove: ({ entries }, { tx, workspaceId }) => removeSuppressions(tx, workspaceId, entries),
  get: ({ id }, { read, workspaceId }) => getSuppression(read, workspaceId, id),
  delete: ({ id }, { tx, workspaceId }) => unsuppress(tx, workspaceId, id),
};
