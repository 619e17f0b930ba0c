import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { importSuppressions, removeSuppressions } from "./bulk.ts";
import type { SuppressionDeps } from "./deps.ts";
import { listSuppressions } from "./list.ts";
import { getSuppression, removeSuppression, suppress } from "./suppressions.ts";

export const suppressionHandlers: Handlers<typeof contract.suppressions, SuppressionDeps> = {
  list: (input, { read, workspaceId }) => listSuppressions(read, workspaceId, input),
  create: (input, { tx, deps, workspaceId }) => suppress(tx, deps, workspaceId, { ...input, source: "api" }),
  import: (input, { tx, deps, workspaceId }) => importSuppressions(tx, deps, workspaceId, input),
  remove: ({ entries }, { tx, deps, workspaceId }) => removeSuppressions(tx, deps, workspaceId, entries),
  get: ({ id }, { read, workspaceId }) => getSuppression(read, workspaceId, id),
  delete: ({ id }, { tx, deps, workspaceId }) => removeSuppression(tx, deps, workspaceId, id),
};
