import type { AgentScope, contract, Listing, ListingState, Page } from "@mailsvc/sdk/contract";
import { and, eq, gt, isNull, lte, or } from "drizzle-orm";
import type { Db, Reader, Tx } from "../../db/db.ts";
import { UniqueViolation } from "../../db/errors.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import type { Handlers } from "../../http/handler.ts";
import { ApiError } from "../../lib/api-error.ts";
import { type Clock, iso } from "../../lib/clock.ts";
import { assertWebhookUrl, type Guard } from "../../lib/guard-url.ts";
import type { Ids } from "../../lib/ids.ts";
import type { Random } from "../../lib/random.ts";
import type { Seal } from "../../lib/seal.ts";
import type { Queue } from "../../queue/queue.ts";
import { getCurrentSecret, makeSecret, sealSecret } from "../../webhooks/webhooks.ts";
import { cancelListing, type ListingHooks } from "./lifecycle.ts";
import { getListingRow, type ListingRow, lockListingRow, showListing } from "./store.ts";

export { endListing, extendListing } from "./lifecycle.ts";
export { getListingRow, isAnyListed, isListed, isOfferedTo, type ListingRow, listingById } from "./store.ts";

type NewListing = Pick<Listing, "slug" | "name" | "description" | "webhookUrl" | "permissions" | "settingsSchema" | "installRedirects">;

/** Creates a draft. The result contains the webhook secret, which is not shown again. Throws ApiError validation_error or slug_taken. */
async function createListing(
  tx: Tx,
  deps: ListingDeps,
  workspaceId: string,
  wanted: NewListing,
): Promise<Listing & { webhookSecret: string }> {
  assertWebhookUrl("webhookUrl", wanted.webhookUrl, deps.webhookGuard);
  const { listings } = tx.t;
  // Checked before the insert: on Postgres a violated constraint aborts the transaction.
  if ((await tx.$count(listings, eq(listings.slug, wanted.slug))) > 0) throw slugTaken(wanted.slug);
  const now = deps.clock.now();
  const id = deps.ids("lst");
  const webhookSecret = makeSecret(deps.random);
  const row: ListingRow = {
    ...wanted,
    id,
    workspaceId,
    version: 1,
    permissionsSince: Object.fromEntries(wanted.permissions.map((scope) => [scope, 1])),
    state: "DRAFT",
    period: 0,
    listedAt: null,
    expiresAt: null,
    endedAt: null,
    subscription: null,
    secret: sealSecret(deps, id, webhookSecret),
    nextSecret: null,
    nextSecretAt: null,
    createdAt: now,
    updatedAt: now,
  };
  try {
    await tx.insert(listings).values(row);
  } catch (error) {
    if (error instanceof UniqueViolation) throw slugTaken(wanted.slug);
    throw error;
  }
  return { ...showListing(row, now), webhookSecret };
}

/**
 * Updates the given fields. A change of the scopes makes another version: those that are left out end at once, by `permissionsSince`, and
 * those that are added are to be accepted. Throws ApiError not_found or validation_error.
 */
async function updateListing(
  tx: Tx,
  deps: ListingDeps,
  workspaceId: string,
  slug: string,
  change: { [F in keyof Omit<NewListing, "slug">]?: NewListing[F] | undefined },
): Promise<Listing> {
  const row = await lockListingRow(tx, workspaceId, slug);
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<NewListing>;
  if (given.webhookUrl !== undefined) assertWebhookUrl("webhookUrl", given.webhookUrl, deps.webhookGuard);
  const now = deps.clock.now();
  if (Object.keys(given).length === 0) return showListing(row, now);
  const set = { ...given, ...nextVersion(row, given.permissions), updatedAt: now };
  await tx.update(tx.t.listings).set(set).where(eq(tx.t.listings.id, row.id));
  return showListing({ ...row, ...set }, now);
}

type Version = Pick<ListingRow, "permissions" | "version" | "permissionsSince">;

/** The version that asks for these scopes; nothing if they are those of the row. */
export function nextVersion(row: Version, permissions: readonly AgentScope[] = row.permissions): Partial<Version> {
  const isSame = permissions.length === row.permissions.length && permissions.every((scope) => row.permissions.includes(scope));
  if (isSame) return {};
  const version = row.version + 1;
  return {
    permissions: [...permissions],
    version,
    permissionsSince: Object.fromEntries(permissions.map((scope) => [scope, row.permissionsSince[scope] ?? version])),
  };
}

/**
 * Creates a new secret, which alone signs once the overlap (seconds) has passed; until then both do, so that receivers can add the new
 * one meanwhile. Throws ApiError not_found.
 */
async function rotateSecret(
  tx: Tx,
  deps: ListingDeps,
  workspaceId: string,
  { slug, overlapSeconds }: { slug: string; overlapSeconds: number },
): Promise<{ webhookSecret: string; effectiveAt: string }> {
  const row = await getListingRow(tx, workspaceId, slug);
  const now = deps.clock.now();
  const effectiveAt = now + overlapSeconds * 1000;
  const webhookSecret = makeSecret(deps.random);
  await tx
    .update(tx.t.listings)
    .set({
      secret: getCurrentSecret(row, now),
      nextSecret: sealSecret(deps, row.id, webhookSecret),
      nextSecretAt: effectiveAt,
      updatedAt: now,
    })
    .where(eq(tx.t.listings.id, row.id));
  return { webhookSecret, effectiveAt: iso(effectiveAt) };
}

/** The listings of a builder, newest first. */
function listListings(
  read: Reader,
  { clock }: ListingDeps,
  workspaceId: string,
  input: PageInput & { state?: ListingState | undefined },
): Promise<Page<Listing>> {
  const { listings: t } = read.t;
  const now = clock.now();
  const expired = and(eq(t.state, "LISTED"), lte(t.expiresAt, now));
  const inState =
    input.state === "LISTED"
      ? and(eq(t.state, "LISTED"), or(isNull(t.expiresAt), gt(t.expiresAt, now)))
      : input.state === "EXPIRED"
        ? or(eq(t.state, "EXPIRED"), expired)
        : input.state && eq(t.state, input.state);
  const where = and(eq(t.workspaceId, workspaceId), inState);
  return listPage(read, input, { table: t, where, toItem: (row) => showListing(row, now) });
}

function slugTaken(slug: string): ApiError {
  return new ApiError("slug_taken", `Another listing already has the slug ${slug}.`, {
    details: [{ path: "slug", code: "slug_taken", message: "Choose another slug." }],
  });
}

/** The endpoints of listings, except those that payments and activations handle. */
export const listingHandlers: Omit<Handlers<typeof contract.listings, ListingDeps>, "checkout" | "activations" | "resume"> = {
  list: (input, { read, deps, workspaceId }) => listListings(read, deps, workspaceId, input),
  create: (input, { tx, deps, workspaceId }) => createListing(tx, deps, workspaceId, input),
  get: async ({ slug }, { read, deps, workspaceId }) => showListing(await getListingRow(read, workspaceId, slug), deps.clock.now()),
  update: ({ slug, ...change }, { tx, deps, workspaceId }) => updateListing(tx, deps, workspaceId, slug, change),
  cancel: ({ slug }, { tx, deps, workspaceId }) => cancelListing(tx, deps, workspaceId, slug),
  rotateSecret: (input, { tx, deps, workspaceId }) => rotateSecret(tx, deps, workspaceId, input),
};

export interface ListingDeps {
  readonly clock: Clock;
  readonly db: Db;
  readonly ids: Ids;
  readonly queue: Queue;
  readonly random: Random;
  readonly seal: Seal;
  readonly listingHooks: ListingHooks;
  /** The addresses that webhooks may have. */
  readonly webhookGuard: Guard;
  readonly config: { readonly dev: boolean };
}
