import { type contract, parseAddress } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { listSuppressions, suppress, unsuppress } from "./suppressions.ts";

export const suppressionHandlers: Handlers<typeof contract.suppressions> = {
  list: (input, { read, workspaceId }) => listSuppressions(read, workspaceId, input),
  create: ({ email, scope }, { tx, deps, workspaceId }) =>
    suppress(tx, deps, workspaceId, { email: parseAddress(email).address, reason: "manual", scope }),
  delete: ({ id }, { tx, workspaceId }) => unsuppress(tx, workspaceId, id),
};
