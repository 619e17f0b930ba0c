import type { Activation, AgentScope, contract, ListingActivation, PauseReason } from "@mailsvc/sdk/contract";
import { and, asc, eq, inArray } from "drizzle-orm";
import type { Db, Tx } from "../../db/db.ts";
import { UniqueViolation } from "../../db/errors.ts";
import { findRows } from "../../db/find.ts";
import type { Handlers } from "../../http/handler.ts";
import { hashKey, makeKey, previewKey } from "../../keys/keys.ts";
import { ApiError, notFound } from "../../lib/api-error.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Ids } from "../../lib/ids.ts";
import { addMonth } from "../../lib/month.ts";
import type { Random } from "../../lib/random.ts";
import type { Queue } from "../../queue/queue.ts";
import { lockWorkspaces } from "../../workspaces/workspaces.ts";
import type { AgentHandlers } from "../agent-access.ts";
import { getListingRow, isOfferedTo, type ListingRow } from "../listings/listings.ts";
import { assertCovered, restoreCoverage } from "./coverage.ts";
import { acceptAll, settingsOf } from "./granted.ts";
import { type ActivationHooks, type ActivationRow, addPauseReason, clearPauseReasons, endActivations } from "./lifecycle.ts";
import { acceptVersion, changeActivation, keepVersion, readSettings } from "./settings.ts";
import { listActivations, listListingActivations, showActivation, showToAgent, showToBuilder } from "./show.ts";
import { type Activated, assertNotEnded, getActivation, isOrphaned } from "./store.ts";

export { applyPlanChange, getPlan, listCounted, planChange } from "./coverage.ts";
export { grantedScopes } from "./granted.ts";
export { type ActivationRow, addPauseReason } from "./lifecycle.ts";
export { showActivation } from "./show.ts";
export { assertNotEnded, getActivation, getActivationOfAgent, isOrphaned, lockActivation, lockActivations } from "./store.ts";

interface Consent {
  agentSlug: string;
  acceptedPermissions: readonly AgentScope[];
  creditLimit?: number | null | undefined;
  settings: Readonly<Record<string, unknown>>;
}

/** The reasons to pause that each party may clear. `plan_downgrade` is cleared by a plan that covers the agent. */
const CLEARED_BY_BRAND = ["user_paused", "webhook_failure"] as const;
const CLEARED_BY_BUILDER = ["webhook_failure"] as const;

/**
 * Turns an agent on (docs/marketplace.md#turn-an-agent-on). The row holds a hash of the agent's one key; the key itself goes to the
 * builder's webhook only. Throws ApiError not_found, validation_error, conflict or plan_limit_reached.
 */
async function activate(tx: Tx, deps: ActivationDeps, workspaceId: string, consent: Consent): Promise<Activation> {
  const now = deps.clock.now();
  const listing = await getOfferedListing(tx, workspaceId, consent.agentSlug, now);
  assertConsent(listing, consent.acceptedPermissions);
  const settings = readSettings(listing, consent.settings);
  await lockWorkspaces(tx, [workspaceId]);
  await endOrphaned(tx, deps, workspaceId, listing);
  await assertCovered(tx, deps, workspaceId);
  const apiKey = makeKey(deps.random, "agent");
  const row: ActivationRow = {
    id: deps.ids("act"),
    workspaceId,
    listingId: listing.id,
    period: listing.period,
    living: listing.id,
    status: "active",
    pauseReasons: [],
    ...acceptAll(listing),
    settings,
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
    if (error instanceof UniqueViolation) throw alreadyActive("");
    throw error;
  }
  await deps.activationHooks.activated(tx, row, { apiKey, settings: settingsOf(row, listing) });
  return showActivation({ activation: row, listing }, now);
}

/** Pauses an agent for its brand. Throws ApiError not_found or invalid_state. */
async function pause(tx: Tx, deps: ActivationDeps, workspaceId: string, id: string): Promise<Activation> {
  const now = deps.clock.now();
  const found = await getActivation(tx, workspaceId, id);
  assertNotEnded(found, now);
  const activation = (await addPauseReason(tx, deps, id, "user_paused")) ?? found.activation;
  return showActivation({ ...found, activation }, now);
}

/**
 * Clears the reasons to pause that are the brand's to clear; the others stay. Throws ApiError not_found, invalid_state, or
 * pause_not_clearable when none of them is.
 */
async function resume(tx: Tx, deps: ActivationDeps, workspaceId: string, id: string): Promise<Activation> {
  const now = deps.clock.now();
  const found = await getActivation(tx, workspaceId, id);
  const activation = await clearReasons(tx, deps, found, CLEARED_BY_BRAND);
  return showActivation({ ...found, activation }, now);
}

/** Turns an agent off for good. Does nothing when it is off already. Throws ApiError not_found. */
async function deactivate(tx: Tx, deps: ActivationDeps, workspaceId: string, id: string): Promise<Activation> {
  const now = deps.clock.now();
  const found = await getActivation(tx, workspaceId, id);
  await lockWorkspaces(tx, [workspaceId]);
  const ended = await endActivations(tx, deps, [id], isOrphaned(found, now) ? "admin_revoke" : "user_deactivated");
  if (ended.length > 0) await restoreCoverage(tx, deps, [workspaceId]);
  return showActivation(await getActivation(tx, workspaceId, id), now);
}

/**
 * The same as `resume` for the builder, who may clear `webhook_failure` only. Throws ApiError not_found, invalid_state or
 * pause_not_clearable.
 */
async function resumeForBuilder(tx: Tx, deps: ActivationDeps, workspaceId: string, slug: string, id: string): Promise<ListingActivation> {
  const listing = await getListingRow(tx, workspaceId, slug);
  const { activations: a, workspaces: w } = tx.t;
  const [found] = await tx
    .select({ activation: a, organizationName: w.name })
    .from(a)
    .innerJoin(w, eq(w.id, a.workspaceId))
    .where(and(eq(a.id, id), eq(a.listingId, listing.id)));
  if (!found) throw notFound("activation", id);
  const activation = await clearReasons(tx, deps, { activation: found.activation, listing }, CLEARED_BY_BUILDER);
  return showToBuilder({ activation, listing }, found.organizationName, deps.clock.now());
}

/** Clears `webhook_failure` where these activations of a listing are paused for it. Returns how many were. */
export async function resumeFailing(tx: Tx, deps: ActivationDeps, listing: ListingRow, ids: readonly string[]): Promise<number> {
  const { activations: a } = tx.t;
  const now = deps.clock.now();
  const rows = await tx
    .select()
    .from(a)
    .where(and(inArray(a.id, [...ids]), eq(a.listingId, listing.id), eq(a.status, "paused")))
    .orderBy(asc(a.id));
  const failing = rows.filter(
    (activation) => activation.pauseReasons.includes("webhook_failure") && !isOrphaned({ activation, listing }, now),
  );
  for (const { id } of failing) await clearPauseReasons(tx, deps, id, CLEARED_BY_BUILDER);
  return failing.length;
}

/** Clears those of these reasons that an activation has. Throws ApiError invalid_state or pause_not_clearable. */
async function clearReasons(tx: Tx, deps: ActivationDeps, found: Activated, clearable: readonly PauseReason[]): Promise<ActivationRow> {
  assertNotEnded(found, deps.clock.now());
  const { id, pauseReasons } = found.activation;
  if (pauseReasons.length > 0 && !pauseReasons.some((reason) => clearable.includes(reason))) throw notClearable(pauseReasons);
  return (await clearPauseReasons(tx, deps, id, clearable)) ?? found.activation;
}

const CLEARED_HOW: Readonly<Record<PauseReason, string>> = {
  user_paused: "Only the brand can resume this agent.",
  plan_downgrade: "Change the plan, or turn another agent off.",
  webhook_failure: "Resume the agent once its webhook works.",
};

function notClearable(reasons: readonly PauseReason[]): ApiError {
  return new ApiError("pause_not_clearable", `You cannot clear why this agent is paused: ${reasons.join(", ")}.`, {
    details: reasons.map((reason) => ({ path: "", code: reason, message: CLEARED_HOW[reason] })),
    hint: reasons.map((reason) => CLEARED_HOW[reason]).join(" "),
  });
}

async function getOfferedListing(tx: Tx, workspaceId: string, slug: string, now: number): Promise<ListingRow> {
  const [listing] = await findRows(tx, tx.t.listings, { slug });
  if (!listing || !isOfferedTo(listing, workspaceId, now))
    throw new ApiError("not_found", `There is no agent ${slug} in the catalog.`, { hint: "See what is on offer: mailsvc catalog list" });
  return listing;
}

/** Throws ApiError validation_error unless the brand accepts every scope the agent asks for. */
function assertConsent({ permissions }: ListingRow, accepted: readonly AgentScope[]): void {
  const missing = permissions.filter((scope) => !accepted.includes(scope));
  if (missing.length === 0) return;
  throw new ApiError("validation_error", `This agent needs scopes you did not accept: ${missing.join(", ")}.`, {
    details: missing.map((scope) => ({ path: "acceptedPermissions", code: "missing_scope", message: scope })),
    hint: "Accept every scope the catalog shows for this agent.",
  });
}

function alreadyActive(id: string): ApiError {
  return new ApiError("already_active", "This agent is already active in this workspace.", {
    details: [{ path: "agentSlug", code: "already_active", message: id }],
  });
}

/**
 * Ends the workspace's activation of an earlier period of the listing, if the job has not done so yet. Throws ApiError conflict
 * when the agent is active.
 */
async function endOrphaned(tx: Tx, deps: ActivationDeps, workspaceId: string, listing: ListingRow): Promise<void> {
  const { activations: a } = tx.t;
  const [row] = await findRows(tx, a, { workspaceId, living: listing.id });
  if (!row) return;
  if (!isOrphaned({ activation: row, listing }, deps.clock.now())) throw alreadyActive(row.id);
  await endActivations(tx, deps, [row.id], "admin_revoke");
}

export interface ActivationDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly ids: Ids;
  readonly queue: Queue;
  readonly random: Random;
  readonly activationHooks: ActivationHooks;
}

export const activationHandlers: Handlers<typeof contract.activations, ActivationDeps> = {
  list: (input, { read, deps, workspaceId }) => listActivations(read, workspaceId, deps.clock.now(), input),
  create: (input, { tx, deps, workspaceId }) => activate(tx, deps, workspaceId, input),
  get: async ({ id }, { read, deps, workspaceId }) => showActivation(await getActivation(read, workspaceId, id), deps.clock.now()),
  update: ({ id, ...change }, { tx, deps, workspaceId }) => changeActivation(tx, deps, workspaceId, id, change),
  accept: ({ id, version }, { tx, deps, workspaceId }) => acceptVersion(tx, deps, workspaceId, id, version),
  keep: ({ id, version }, { tx, deps, workspaceId }) => keepVersion(tx, deps, workspaceId, id, version),
  pause: ({ id }, { tx, deps, workspaceId }) => pause(tx, deps, workspaceId, id),
  resume: ({ id }, { tx, deps, workspaceId }) => resume(tx, deps, workspaceId, id),
  deactivate: ({ id }, { tx, deps, workspaceId }) => deactivate(tx, deps, workspaceId, id),
};

/** The endpoints of listings that activations handle. */
export const listingActivationHandlers: Pick<Handlers<typeof contract.listings, ActivationDeps>, "activations" | "resume"> = {
  activations: async ({ slug, ...input }, { read, deps, workspaceId }) =>
    listListingActivations(read, await getListingRow(read, workspaceId, slug), deps.clock.now(), input),
  resume: ({ slug, id }, { tx, deps, workspaceId }) => resumeForBuilder(tx, deps, workspaceId, slug, id),
};

export const selfHandlers: AgentHandlers<"self"> = {
  get: (_input, { read, agent }) => showToAgent(read, agent.activationId),
};
