import type { contract, inboundNouns, Provider } from "@mailsvc/sdk/contract";
import type { Handlers, PublicContext, RawBody } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import { splitIntoChunks } from "../lib/chunks.ts";
import { PROVIDER_KEYS } from "../lib/provider-keys.ts";
import { applyReports } from "./apply.ts";
import type { InboundDeps } from "./deps.ts";
import { addConnection, getConnection, listConnections, removeConnection } from "./providers/connections.ts";
import type { ReadWebhook } from "./providers/provider.ts";
import type { Report } from "./report.ts";

type Endpoints = (typeof inboundNouns)["inbound"];

/** Loaded with the first webhook of each provider: most servers hear from one or none. */
const READERS: Readonly<Record<Provider, ReadWebhook>> = {
  ses: async (...webhook) => (await import("./providers/ses.ts")).readSes(...webhook),
  postmark: async (...webhook) => (await import("./providers/postmark.ts")).readPostmark(...webhook),
  sendgrid: async (...webhook) => (await import("./providers/sendgrid.ts")).readSendgrid(...webhook),
  mailgun: async (...webhook) => (await import("./providers/mailgun.ts")).readMailgun(...webhook),
};

// Reports applied in one transaction; SendGrid sends a thousand at a time.
const CHUNK = 100;

/** The connections of workspaces to mail providers. */
export const providerHandlers: Handlers<typeof contract.providers, InboundDeps> = {
  list: (input, { read, deps, workspaceId }) => listConnections(read, deps, workspaceId, input),
  add: (input, { tx, deps, workspaceId }) => addConnection(tx, deps, workspaceId, input),
  remove: ({ id }, { tx, deps, workspaceId }) => removeConnection(tx, deps, workspaceId, id),
};

/** The endpoints that mail providers call: one for each connection of a workspace, and one for each provider with keys in flags. */
export const inboundHandlers: Handlers<Endpoints, InboundDeps> = {
  ses: takeForAll("ses"),
  postmark: takeForAll("postmark"),
  sendgrid: takeForAll("sendgrid"),
  mailgun: takeForAll("mailgun"),
  connection: async ({ token }, { deps, bytes, headers }) => {
    const { workspaceId, provider, key } = await getConnection(deps.db.read, deps, token);
    return take(deps, await READERS[provider](deps, { bytes, headers }, [key]), workspaceId);
  },
};

/** Takes reports about the mail of all workspaces, verified by keys that the operator has set. */
function takeForAll(provider: Provider) {
  return async (_input: unknown, { deps, bytes, headers }: PublicContext<InboundDeps> & RawBody) => {
    const keys = deps.config.providers[provider];
    const { name, flag } = PROVIDER_KEYS[provider];
    if (keys.length === 0)
      throw new ApiError("not_found", `Webhooks of ${name} are not set up on this server.`, {
        hint: `Add a connection, which has its own URL: mailsvc providers add ${provider}. Or start the server with --${flag}.`,
      });
    return take(deps, await READERS[provider](deps, { bytes, headers }, keys), null);
  };
}

/**
 * Applies reports, only to mail of the workspace unless it is null. Throws ApiError not_ready when a report came before the email was
 * settled: providers send it again after a 5xx.
 */
async function take(
  deps: InboundDeps,
  reports: readonly Report[],
  workspaceId: string | null,
): Promise<{ received: true; applied: number }> {
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
