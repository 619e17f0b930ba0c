import type { Activation, ActivationStatus, AgentSelf, ListingActivation, Page } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt, isNull, lt, ne, not, or, type SQL } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { countQuery, ONE, type PageInput, paginateById } from "../../db/pagination.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentTables } from "../agent-access.ts";
import type { ListingRow } from "../listings/listings.ts";
import { grantedScopes, settingsOf, showUpdate } from "./granted.ts";
import { type Activated, toEffective } from "./store.ts";

/** An activation as its brand sees it. */
export function showActivation(found: Activated, now: number): Activation {
  const row = toEffective(found, now);
  return {
    id: row.id,
    agentSlug: found.listing.slug,
    agentName: found.listing.name,
    status: row.status,
    pauseReasons: toPauseReasons(row),
    scopes: grantedScopes(row, found.listing),
    version: row.acceptedVersion,
    update: showUpdate({ ...found, activation: row }),
    settingsSchema: found.listing.settingsSchema,
    settings: settingsOf(row, found.listing),
    keyPreview: row.keyPreview,
    keyDeliveredAt: toInstant(row.keyDeliveredAt),
    // Text of somebody else, which could ask the brand for anything.
    webhookLastError: row.webhookLastError && { ...row.webhookLastError, answer: null },
    creditLimit: row.creditLimit,
    createdAt: iso(row.createdAt),
    pausedAt: row.status === "paused" ? toInstant(row.pausedAt) : null,
    deactivatedAt: toInstant(row.deactivatedAt),
    deactivationReason: row.deactivationReason,
  };
}

/** An activation as the builder of its agent sees it: of the brand only the name. */
export function showToBuilder(found: Activated, organizationName: string, now: number): ListingActivation {
  const row = toEffective(found, now);
  return {
    id: row.id,
    organizationName,
    status: row.status,
    pauseReasons: toPauseReasons(row),
    scopes: grantedScopes(row, found.listing),
    keyPreview: row.keyPreview,
    keyDeliveredAt: toInstant(row.keyDeliveredAt),
    webhookLastError: row.webhookLastError,
    createdAt: iso(row.createdAt),
    deactivatedAt: toInstant(row.deactivatedAt),
  };
}

/** An activation as its agent sees it. Throws ApiError not_found. */
export async function showToAgent(read: Reader<AgentTables>, activationId: string): Promise<AgentSelf> {
  const { activations: a, listings: l, workspaces: w } = read.t;
  const [row] = await read
    .select({ activation: a, listing: l, organizationName: w.name })
    .from(a)
    .innerJoin(l, eq(l.id, a.listingId))
    .innerJoin(w, eq(w.id, a.workspaceId))
    .where(eq(a.id, activationId));
  if (!row) throw notFound("activation", activationId);
  const { activation, listing, organizationName } = row;
  return {
    activationId,
    agentSlug: listing.slug,
    organizationName,
    status: activation.status,
    pauseReasons: activation.pauseReasons,
    scopes: grantedScopes(activation, listing),
    settings: settingsOf(activation, listing),
    keyPreview: activation.keyPreview,
    createdAt: iso(activation.createdAt),
    webhookLastError: activation.webhookLastError,
  };
}

function toInstant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

/** A deactivated activation keeps its reasons in the row; they are shown only while it is paused. */
function toPauseReasons({ status, pauseReasons }: Pick<Activation, "status" | "pauseReasons">): Activation["pauseReasons"] {
  return status === "paused" ? pauseReasons : [];
}

interface ActivationFilter extends PageInput {
  status?: ActivationStatus | undefined;
  agentSlug?: string | undefined;
}

/** The activations of a workspace, for the brand. */
export function listActivations(read: Reader, workspaceId: string, now: number, input: ActivationFilter): Promise<Page<Activation>> {
  const { activations: a, listings: l } = read.t;
  const where = and(
    eq(a.workspaceId, workspaceId),
    input.agentSlug === undefined ? undefined : eq(l.slug, input.agentSlug),
    hasStatus(read, input.status, now),
  );
  return paginateById(
    input,
    async ({ before, limit, offset }) => {
      const rows = await read
        .select({ activation: a, listing: l })
        .from(a)
        .innerJoin(l, eq(l.id, a.listingId))
        .where(and(where, before === null ? undefined : lt(a.id, before)))
        .orderBy(desc(a.id))
        .limit(limit)
        .offset(offset);
      return rows.map((row) => ({ id: row.activation.id, ...row }));
    },
    () => countQuery(read, read.select(ONE).from(a).innerJoin(l, eq(l.id, a.listingId)).where(where)),
    (found) => showActivation(found, now),
  );
}

/** The activations of a listing, for its builder. */
export function listListingActivations(
  read: Reader,
  listing: ListingRow,
  now: number,
  input: PageInput & { status?: ActivationStatus | undefined },
): Promise<Page<ListingActivation>> {
  const { activations: a, listings: l, workspaces: w } = read.t;
  const where = and(eq(a.listingId, listing.id), hasStatus(read, input.status, now));
  return paginateById(
    input,
    async ({ before, limit, offset }) => {
      const rows = await read
        .select({ activation: a, organizationName: w.name })
        .from(a)
        .innerJoin(l, eq(l.id, a.listingId))
        .innerJoin(w, eq(w.id, a.workspaceId))
        .where(and(where, before === null ? undefined : lt(a.id, before)))
        .orderBy(desc(a.id))
        .limit(limit)
        .offset(offset);
      return rows.map((row) => ({ id: row.activation.id, ...row }));
    },
    () => countQuery(read, read.select(ONE).from(a).innerJoin(l, eq(l.id, a.listingId)).where(where)),
    ({ activation, organizationName }) => showToBuilder({ activation, listing }, organizationName, now),
  );
}

/**
 * Activations with a status, as it counts now: once its listing has ended, an activation is deactivated. For queries that join
 * listings.
 */
function hasStatus({ t }: Reader, status: ActivationStatus | undefined, now: number): SQL | undefined {
  if (status === undefined) return undefined;
  const { activations: a, listings: l } = t;
  const isListed = and(eq(l.state, "LISTED"), or(isNull(l.expiresAt), gt(l.expiresAt, now)));
  // The same as isOfferedTo.
  const isOffered = or(isListed, and(eq(l.state, "DRAFT"), eq(l.workspaceId, a.workspaceId))) as SQL;
  if (status === "deactivated") return or(eq(a.status, "deactivated"), ne(a.period, l.period), not(isOffered));
  return and(eq(a.status, status), eq(a.period, l.period), isOffered);
}
