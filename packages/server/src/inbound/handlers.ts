import type { contract, inboundNouns } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { applyReports } from "./apply.ts";
import type { InboundDeps } from "./deps.ts";
import { addConnection, getConnection, listConnections, removeConnection } from "./providers/connections.ts";
import { MAIL_PROVIDERS } from "./providers/providers.ts";
import type { Report } from "./report.ts";

type Endpoints = (typeof inboundNouns)["inbound"];

// Reports applied in one transaction; SendGrid sends a thousand at a time.
const CHUNK = 100;

/** The connections of workspaces to mail providers. */
export const providerHandlers: Handlers<typeof contract.providers, InboundDeps> = {
  list: (input, { read, deps, workspaceId }) => listConnections(read, deps, workspaceId, input),
  add: (input, { tx, deps, workspaceId }) => addConnection(tx, deps, workspaceId, input),
  remove: ({ id }, { tx, deps, workspaceId }) => removeConnection(tx, deps, workspaceId, id),
};

/** The endpoint that mail providers call, with a URL for each connection of a workspace. */
export const inboundHandlers: Handlers<Endpoints, InboundDeps> = {
  connection: async ({ token }, { deps, bytes, headers }) => {
    const { workspaceId, provider, key } = await getConnection(deps.db.read, deps, token);
    return take(deps, await MAIL_PROVIDERS[provider].read(deps, { bytes, headers }, key), workspaceId);
  },
};

/**
 * Applies reports to mail of the workspace. Throws ApiError not_ready when a report came before the email was
 * settled: providers send it again after a 5xx.
 */
async function take(deps: InboundDeps, reports: readonly Report[], workspaceId: string): Promise<{ received: true; applied: number }> {
  let applied = 0;
  let early = 0;
  for (const chunk of splitIntoChunks(reports, CHUNK)) {
    const results = await deps.db.tx((tx) => applyReports(tx, deps, chunk, workspaceId));
    applied += results.filter((result) => result === "applied").length;
    early += results.filter((result) => result === "too-early").length;
  }
  if (early > 0) throw new ApiError("not_ready", "An email this is about is still being sent.");
  return { received: true, applied };
}
