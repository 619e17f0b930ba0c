import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { getLimits, setLimits } from "./alarms.ts";
import type { MailMetricsDeps } from "./deps.ts";
import { verifyMetrics } from "./recount.ts";
import { getMetrics } from "./report.ts";

export const metricsHandlers: Handlers<typeof contract.metrics, MailMetricsDeps> = {
  get: (input, { read, deps, workspaceId, key }) =>
    getMetrics(read, deps, workspaceId, { ...input, test: key.test || input.test === true }),
  limits: (_input, { read, deps, workspaceId }) => getLimits(read, deps, workspaceId),
  setLimits: (input, { tx, deps, workspaceId }) => setLimits(tx, deps, workspaceId, input),
  verify: (input, { read, deps, workspaceId }) => verifyMetrics(read, deps, workspaceId, input),
};
