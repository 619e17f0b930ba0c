import { type Page, PROVIDER_LIMITS, PROVIDERS, type Provider, type ProviderConnection } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import { ApiError, invalid, notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { InboundDeps } from "../deps.ts";
import type { InboundTables } from "../tables.ts";
import { MAIL_PROVIDERS } from "./providers.ts";

type ConnectionRow = InboundTables["providerConnections"]["$inferSelect"];

/** The account of a workspace at a provider, as its webhooks are verified. */
interface VerifyingConnection {
  readonly workspaceId: string;
  readonly provider: Provider;
  readonly key: string;
}

/** The connections of a workspace to mail providers, newest first. */
export function listConnections(
  read: Reader,
  deps: InboundDeps,
  workspaceId: string,
  { provider, ...page }: PageInput & { provider?: Provider | undefined },
): Promise<Page<ProviderConnection>> {
  const { providerConnections: t } = read.t;
  const where = and(eq(t.workspaceId, workspaceId), provider && eq(t.provider, provider));
  return listPage(read, page, { table: t, where, toItem: (row) => show(deps, row) });
}

/** Adds a connection, with its own URL. Throws ApiError limit_reached, or validation_error for a key the provider does not use. */
export async function addConnection(
  tx: Tx,
  deps: InboundDeps,
  workspaceId: string,
  { provider, key, description }: { provider: Provider; key: string; description?: string | undefined },
): Promise<ProviderConnection> {
  const { providerConnections: t } = tx.t;
  const { takes, isValidKey } = MAIL_PROVIDERS[provider];
  if (!isValidKey(key)) throw invalid("key", "invalid_format", `The key of ${PROVIDERS[provider].name} is ${takes}.`);
  if ((await tx.$count(t, eq(t.workspaceId, workspaceId))) >= PROVIDER_LIMITS.perWorkspace)
    throw new ApiError("limit_reached", `A workspace can have ${PROVIDER_LIMITS.perWorkspace} connections to mail providers.`, {
      hint: "Remove one first: mailsvc providers list",
    });
  const id = deps.ids("prv");
  const row: ConnectionRow = {
    id,
    workspaceId,
    provider,
    token: Buffer.from(deps.random.bytes(24)).toString("hex"),
    key: deps.seal.seal(key, providerKeyPlace(id)),
    description: description ?? null,
    createdAt: deps.clock.now(),
  };
  await tx.insert(t).values(row);
  return show(deps, row);
}

/** Deletes a connection; its URL is unknown from then on. Throws ApiError not_found. */
export async function removeConnection(tx: Tx, deps: InboundDeps, workspaceId: string, id: string): Promise<ProviderConnection> {
  const { providerConnections: t } = tx.t;
  const [row] = await tx
    .delete(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.id, id)))
    .returning();
  if (!row) throw notFound("provider connection", id);
  return show(deps, row);
}

/** The connection whose URL a provider calls. Throws ApiError not_found. */
export async function getConnection(read: Reader, { seal }: InboundDeps, token: string): Promise<VerifyingConnection> {
  const [[row] = []] = await read.lookUp(read.t.providerConnections, [{ token }]);
  if (!row)
    throw new ApiError("not_found", "No connection to a mail provider has this URL.", {
      hint: "It may have been removed. See: mailsvc providers list",
    });
  return { workspaceId: row.workspaceId, provider: row.provider, key: seal.open(row.key, providerKeyPlace(row.id)) };
}

/** Returns the workspaces that have a connection to this provider. */
export async function filterConnected(read: Reader, workspaceIds: readonly string[], provider: Provider): Promise<ReadonlySet<string>> {
  const keys = workspaceIds.map((workspaceId) => ({ workspaceId }));
  const found = await read.lookUp(read.t.providerConnections, keys);
  return new Set(found.flat().flatMap((row) => (row.provider === provider ? [row.workspaceId] : [])));
}

function show({ baseUrl }: InboundDeps, { id, provider, token, description, createdAt }: ConnectionRow): ProviderConnection {
  return { id, provider, url: `${baseUrl()}/api/v1/inbound/connections/${token}`, description, createdAt: iso(createdAt) };
}

/** Encryption context of the key of a connection. */
export function providerKeyPlace(id: string): string {
  return `provider:${id}`;
}
