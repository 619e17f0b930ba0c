import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { findActivation } from "../activations/store.ts";
import { listRunLogs, listRuns } from "./list.ts";
import { cancelRunForBrand } from "./runs.ts";
import { showRun } from "./show.ts";
import { findRun } from "./store.ts";

/** Runs, for the brand whose agent they are of. */
export const runHandlers: Handlers<typeof contract.runs> = {
  list: async ({ id, ...input }, { read, deps, workspaceId }) => {
    await findActivation(read, workspaceId, id);
    return listRuns(read, id, deps.runClock.overdue(), input);
  },
  get: async ({ id, runId }, { read, deps, workspaceId }) => {
    await findActivation(read, workspaceId, id);
    const overdue = deps.runClock.overdue();
    return showRun(await findRun(read, { activationId: id, runId }, overdue), overdue);
  },
  logs: async ({ id, runId, ...input }, { read, workspaceId }) => {
    await findActivation(read, workspaceId, id);
    return listRunLogs(read, { activationId: id, runId }, input);
  },
  cancel: async ({ id, runId, force }, { tx, deps, workspaceId }) => {
    await findActivation(tx, workspaceId, id);
    return cancelRunForBrand(tx, deps, { activationId: id, runId }, force);
  },
};
