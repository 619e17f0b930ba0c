import { ACTIVATION_PRICE, AGENT_SCOPE_GRANTS, type CatalogAgent, type contract, type Page } from "@mailsvc/sdk/contract";
import { and, eq, gt, inArray, isNull, or } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { contains } from "../../db/dialect.ts";
import { findRows } from "../../db/find.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import type { Handlers } from "../../http/handler.ts";
import { ApiError } from "../../lib/api-error.ts";
import { type Clock, iso } from "../../lib/clock.ts";
import { loadWorkspaceNames } from "../../workspaces/workspaces.ts";
import { isOfferedTo, type ListingRow } from "../listings/listings.ts";

export const catalogHandlers: Handlers<typeof contract.catalog, CatalogDeps> = {
  list: (input, { read, deps, workspaceId }) => listCatalog(read, workspaceId, deps.clock.now(), input),
  get: ({ slug }, { read, deps, workspaceId }) => getCatalogAgent(read, workspaceId, deps.clock.now(), slug),
};

/** The listed agents of all builders, newest first. */
async function listCatalog(
  read: Reader,
  workspaceId: string,
  now: number,
  input: PageInput & { search?: string | undefined },
): Promise<Page<CatalogAgent>> {
  const { listings: t } = read.t;
  const search = input.search?.trim();
  const where = and(
    eq(t.state, "LISTED"),
    or(isNull(t.expiresAt), gt(t.expiresAt, now)),
    search ? or(contains(read.sqlDialect, t.name, search), contains(read.sqlDialect, t.description, search)) : undefined,
  );
  const page = await listPage(read, input, { table: t, where, toItem: (row) => row });
  return { ...page, data: await showAgents(read, workspaceId, page.data) };
}

/** One listed agent, or a draft of this workspace, which it may try. Throws ApiError not_found. */
async function getCatalogAgent(read: Reader, workspaceId: string, now: number, slug: string): Promise<CatalogAgent> {
  const [row] = await findRows(read, read.t.listings, { slug });
  if (!row || !isOfferedTo(row, workspaceId, now))
    throw new ApiError("not_found", `Agent ${JSON.stringify(slug.slice(0, 100))} not found in the catalog.`);
  const [agent] = await showAgents(read, workspaceId, [row]);
  return agent as CatalogAgent;
}

/** Listings as brands see them, with the builder's name and this workspace's activation. */
async function showAgents(read: Reader, workspaceId: string, rows: readonly ListingRow[]): Promise<CatalogAgent[]> {
  const builders = await loadWorkspaceNames(read, [...new Set(rows.map(({ workspaceId: builder }) => builder))]);
  const activations = await findOwnActivations(read, workspaceId, rows);
  return rows.map((row) => ({
    slug: row.slug,
    name: row.name,
    description: row.description,
    builder: { name: builders.get(row.workspaceId) ?? "" },
    price: ACTIVATION_PRICE,
    permissions: row.permissions.map((scope) => ({ scope, grants: AGENT_SCOPE_GRANTS[scope] })),
    settingsSchema: row.settingsSchema,
    installRedirects: row.installRedirects,
    version: row.version,
    listedAt: iso(row.listedAt ?? row.createdAt),
    activationId: activations.get(row.id) ?? null,
  }));
}

/** This workspace's current activations of these listings, by listing id. */
async function findOwnActivations(read: Reader, workspaceId: string, rows: readonly ListingRow[]): Promise<ReadonlyMap<string, string>> {
  if (rows.length === 0) return new Map();
  const { activations: a, listings: l } = read.t;
  const found = await read
    .select({ id: a.id, listingId: a.listingId })
    .from(a)
    .innerJoin(l, and(eq(l.id, a.listingId), eq(l.period, a.period)))
    .where(
      and(
        eq(a.workspaceId, workspaceId),
        inArray(
          a.living,
          rows.map(({ id }) => id),
        ),
      ),
    );
  return new Map(found.map(({ id, listingId }) => [listingId, id]));
}

export interface CatalogDeps {
  readonly clock: Clock;
}
