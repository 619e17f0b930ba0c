import type { Activation, AgentScope, ListingActivation } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import { UniqueViolation } from "../../db/errors.ts";
import type { Deps } from "../../deps.ts";
import { hashKey, makeKey, previewKey } from "../../keys/secret.ts";
import { ApiError, notFound } from "../../lib/api-error.ts";
import { addMonth } from "../../lib/month.ts";
import { emit } from "../agent-webhooks/agent-events.ts";
import { findListing, isListed, type ListingRow } from "../listings/store.ts";
import { assertCovered, lockWorkspace, restoreCoverage } from "./coverage.ts";
import { showActivation, showToBuilder } from "./show.ts";
import { assertLiving, effective, findActivation, isOrphaned } from "./store.ts";
import { type ActivationRow, addPauseReason, clearPauseReasons, endActivations } from "./transitions.ts";

export interface Consent {
  agentSlug: string;
  acceptedPermissions: readonly AgentScope[];
  creditLimit?: number | null | undefined;
}

/**
 * Turns an agent on (SPEC 3). Its one key goes into the outbox, encrypted, and as a hash into the row; nobody else ever sees
 * it. Throws ApiError not_found, validation_error, conflict or plan_limit_reached.
 */
export async function activate(tx: Tx, deps: Deps, workspaceId: string, consent: Consent): Promise<Activation> {
  const now = deps.clock.now();
  const listing = await offered(tx, consent.agentSlug, now);
  assertConsent(listing, consent.acceptedPermissions);
  await lockWorkspace(tx, workspaceId);
  await makeRoom(tx, deps, workspaceId, listing);
  await assertCovered(tx, deps, workspaceId);
  const [workspace] = await tx.select().from(tx.t.workspaces).where(eq(tx.t.workspaces.id, workspaceId));
  if (!workspace) throw notFound("workspace", workspaceId);
  const apiKey = makeKey(deps.random, "agent");
  const row: ActivationRow = {
    id: deps.ids("act"),
    workspaceId,
    listingId: listing.id,
    period: listing.period,
    living: listing.id,
    status: "active",
    pauseReasons: [],
    scopes: listing.permissions,
    keyHash: hashKey(apiKey),
    keyPreview: previewKey(apiKey),
    keyDeliveredAt: null,
    sequence: 0,
    lastEventAt: 0,
    messageSequence: 0,
    webhookLastError: null,
    uncoveredAt: null,
    creditLimit: consent.creditLimit ?? null,
    creditsUsed: 0,
    creditsResetAt: addMonth(now),
    createdAt: now,
    pausedAt: null,
    deactivatedAt: null,
    deactivationReason: null,
  };
  try {
    await tx.insert(tx.t.activations).values(row);
  } catch (error) {
    if (error instanceof UniqueViolation) throw on("");
    throw error;
  }
  await emit(tx, deps, row.id, {
    type: "agent.activated",
    at: now,
    fields: { apiKey, agentSlug: listing.slug, organizationName: workspace.name, scopes: row.scopes },
  });
  return showActivation({ activation: row, listing }, now);
}

/** Pauses an agent by the brand's will. Throws ApiError not_found or invalid_state. */
export async function pause(tx: Tx, deps: Deps, workspaceId: string, id: string): Promise<Activation> {
  const now = deps.clock.now();
  const found = await findActivation(tx, workspaceId, id);
  assertLiving(found, now);
  const activation = (await addPauseReason(tx, deps, id, "user_paused")) ?? found.activation;
  return showActivation({ ...found, activation }, now);
}

/**
 * Lifts what the brand may lift: its own pause, and one for a failing webhook. Throws ApiError not_found, invalid_state, or
 * pause_not_clearable while the plan does not cover the agent; then nothing changes.
 */
export async function resume(tx: Tx, deps: Deps, workspaceId: string, id: string): Promise<Activation> {
  const now = deps.clock.now();
  const found = await findActivation(tx, workspaceId, id);
  assertLiving(found, now);
  if (found.activation.pauseReasons.includes("plan_downgrade"))
    throw new ApiError("pause_not_clearable", "The plan of this workspace does not cover this agent.", {
      details: found.activation.pauseReasons.map((reason) => ({ path: "", code: reason, message: `Paused by ${reason}.` })),
    });
  const activation = (await clearPauseReasons(tx, deps, id, ["user_paused", "webhook_failure"])) ?? found.activation;
  return showActivation({ ...found, activation }, now);
}

/** Turns an agent off for good. One that is off stays as it is. Throws ApiError not_found. */
export async function deactivate(tx: Tx, deps: Deps, workspaceId: string, id: string): Promise<Activation> {
  const now = deps.clock.now();
  const found = await findActivation(tx, workspaceId, id);
  await lockWorkspace(tx, workspaceId);
  const ended = await endActivations(tx, deps, [id], isOrphaned(found, now) ? "admin_revoke" : "user_deactivated");
  if (ended.length > 0) await restoreCoverage(tx, deps, [workspaceId]);
  return showActivation(await findActivation(tx, workspaceId, id), now);
}

/** Limits what an agent may spend in a month. Throws ApiError not_found or invalid_state. */
export async function limitCredits(tx: Tx, deps: Deps, workspaceId: string, id: string, creditLimit: number | null): Promise<Activation> {
  const now = deps.clock.now();
  const found = await findActivation(tx, workspaceId, id);
  assertLiving(found, now);
  await tx.update(tx.t.activations).set({ creditLimit }).where(eq(tx.t.activations.id, id));
  return showActivation({ ...found, activation: { ...found.activation, creditLimit } }, now);
}

/** Lifts a pause for a failing webhook at the word of the builder, whose webhook it is. Throws ApiError not_found or invalid_state. */
export async function resumeForBuilder(tx: Tx, deps: Deps, workspaceId: string, slug: string, id: string): Promise<ListingActivation> {
  const now = deps.clock.now();
  const listing = await findListing(tx, workspaceId, slug);
  const { activations: a, workspaces: w } = tx.t;
  const [found] = await tx
    .select({ activation: a, organizationName: w.name })
    .from(a)
    .innerJoin(w, eq(w.id, a.workspaceId))
    .where(and(eq(a.id, id), eq(a.listingId, listing.id)));
  if (!found) throw notFound("activation", id);
  assertLiving({ activation: found.activation, listing }, now);
  const activation =
    (await clearPauseReasons(tx, deps, id, ["webhook_failure"])) ?? effective({ activation: found.activation, listing }, now);
  return showToBuilder({ activation, listing }, found.organizationName, now);
}

async function offered(tx: Tx, slug: string, now: number): Promise<ListingRow> {
  const [listing] = await tx.select().from(tx.t.listings).where(eq(tx.t.listings.slug, slug));
  if (!listing || !isListed(listing, now))
    throw new ApiError("not_found", `There is no agent ${slug} in the catalog.`, { hint: "See what is on offer: mailsvc catalog list" });
  return listing;
}

/** Throws ApiError validation_error unless the brand agrees to everything the agent asks for. */
function assertConsent({ permissions }: ListingRow, accepted: readonly AgentScope[]): void {
  const missing = permissions.filter((scope) => !accepted.includes(scope));
  if (missing.length === 0) return;
  throw new ApiError("validation_error", `This agent needs more than you agree to: ${missing.join(", ")}.`, {
    details: missing.map((scope) => ({ path: "acceptedPermissions", code: "missing_scope", message: scope })),
    hint: "Agree to every scope the catalog shows for it, or do not turn it on.",
  });
}

function on(id: string): ApiError {
  return new ApiError("conflict", "This agent is on in this workspace already.", {
    details: [{ path: "agentSlug", code: "already_active", message: id }],
  });
}

/** Ends what is left of an activation whose listing ended and was listed again. Throws ApiError conflict for one that lives. */
async function makeRoom(tx: Tx, deps: Deps, workspaceId: string, listing: ListingRow): Promise<void> {
  const { activations: a } = tx.t;
  const [row] = await tx
    .select()
    .from(a)
    .where(and(eq(a.workspaceId, workspaceId), eq(a.living, listing.id)));
  if (!row) return;
  if (!isOrphaned({ activation: row, listing }, deps.clock.now())) throw on(row.id);
  await endActivations(tx, deps, [row.id], "admin_revoke");
}
