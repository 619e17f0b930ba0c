import type { EventType, Suppression } from "@mailsvc/sdk/contract";
import { addressKey } from "@mailsvc/sdk/contract";
import { and, eq, inArray, ne, or, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { assumeEmailHeld, type HeldEmailId } from "../db/held.ts";
import { recordEvents } from "../events/events.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { SuppressionDeps } from "./deps.ts";
import { ERASED_MARKER, hasErasedAddresses, hashAddresses } from "./erasure.ts";
import type { SuppressionTables } from "./tables.ts";

export type { SuppressedAddress } from "./deps.ts";
export { eraseAddress } from "./erasure.ts";

/** A suppression without its key inside the database, which it gets when it is stored. */
export type SuppressionRow = Omit<SuppressionTables["suppressions"]["$inferSelect"], "seq">;

/** A suppression that is written: of one that names an email, an erasure of the person writes both. */
type WrittenRow = SuppressionRow & { readonly emailId: HeldEmailId | null };

type Scope = Suppression["scope"];

export interface NewSuppression {
  email: string;
  reason: Suppression["reason"];
  /** `marketing` for reason `unsubscribe` and `all` for every other reason, unless given. */
  scope?: Scope | undefined;
  source: Suppression["source"];
  emailId?: HeldEmailId | null | undefined;
  /** The campaign of that email. */
  campaignId?: string | null | undefined;
  note?: string | null | undefined;
}

export function showSuppression(row: SuppressionRow): Suppression {
  return {
    id: row.id,
    email: row.email,
    reason: row.reason,
    scope: row.scope,
    source: row.source,
    emailId: row.emailId,
    note: row.note,
    unsubscribedAt: row.unsubscribedAt === null ? null : iso(row.unsubscribedAt),
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

/**
 * Suppresses an address, and moves its contact to the status that fits the reason. An existing suppression is kept; only
 * `marketing` is widened to `all`, with the new reason:
 *
 * | stored      | `marketing` requested | `all` requested |
 * | ----------- | --------------------- | --------------- |
 * | none        | `marketing`           | `all`           |
 * | `marketing` | unchanged             | `all`           |
 * | `all`       | unchanged             | unchanged       |
 *
 * That a person unsubscribed is kept in addition to any other reason, and outlives its removal: see `removeSuppressionRows`.
 */
export async function suppress(tx: Tx, deps: SuppressionDeps, workspaceId: string, wanted: NewSuppression): Promise<Suppression> {
  const email = addressKey(wanted.email);
  const before = (await findSuppressions(tx, workspaceId, [email])).get(email);
  const change = mergeSuppression(before, wanted, () => deps.ids("sup"), workspaceId, deps.clock.now());
  if (change) await saveSuppressions(tx, deps, [change]);
  const { reason, emailId, campaignId, source } = wanted;
  await deps.suppressionHooks.addressesSuppressed(tx, workspaceId, [{ email, reason, emailId, campaignId }], source);
  return showSuppression(change?.row ?? (before as SuppressionRow));
}

/**
 * Suppresses the addresses (as from `addressKey`) of contacts that were set to UNSUBSCRIBED, in scope `marketing`. Does not tell
 * contacts, since they made the change. Returns the ids of the suppressions that are new, by their addresses.
 */
export async function suppressUnsubscribed(
  tx: Tx,
  deps: SuppressionDeps,
  workspaceId: string,
  emails: readonly string[],
  source: Suppression["source"],
): Promise<ReadonlyMap<string, string>> {
  if (emails.length === 0) return new Map();
  const existing = await findSuppressions(tx, workspaceId, emails);
  const now = deps.clock.now();
  const changes = emails.flatMap((email) => {
    const wanted = { email, reason: "unsubscribe", source } as const;
    return mergeSuppression(existing.get(email), wanted, () => deps.ids("sup"), workspaceId, now) ?? [];
  });
  await saveSuppressions(tx, deps, changes);
  return new Map(changes.flatMap(({ row }) => (existing.has(row.email) ? [] : [[row.email, row.id] as const])));
}

/**
 * Deletes those of some suppressions that are still as an import added them: nobody unsubscribed, bounced or complained since.
 * Returns their addresses.
 */
export async function takeBackUnsubscribed(
  tx: Tx,
  deps: SuppressionDeps,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { suppressions: t } = tx.t;
  const rows = await tx
    .select()
    .from(t)
    .where(
      and(
        eq(t.workspaceId, workspaceId),
        inArray(t.id, [...ids]),
        eq(t.reason, "unsubscribe"),
        eq(t.scope, "marketing"),
        eq(t.source, "import"),
        eq(t.unsubscribedSource, "import"),
      ),
    );
  if (rows.length > 0)
    await deleteSuppressions(
      tx,
      deps,
      workspaceId,
      rows.map(({ id }) => id),
    );
  return new Set(rows.map(({ email }) => email));
}

/** Change of a suppression by a request. */
export interface SuppressionChange {
  /** The suppression as the request leaves it. */
  readonly row: WrittenRow;
  /** Facts that the change adds. They differ from the row if a person unsubscribes whose address is suppressed for another reason. */
  readonly added: readonly Pick<WrittenRow, "reason" | "scope" | "source" | "emailId">[];
}

/** Returns the change that a request makes; null if nothing changes. */
export function mergeSuppression(
  before: SuppressionRow | undefined,
  wanted: NewSuppression,
  id: () => string,
  workspaceId: string,
  now: number,
): SuppressionChange | null {
  const { reason, source, emailId = null } = wanted;
  const scope = wanted.scope ?? (reason === "unsubscribe" ? "marketing" : "all");
  const added = [{ reason, scope, source, emailId }];
  // An unsubscribe by the person counts besides an imported one: undoing the import must not take it back.
  const isRenewed = before?.unsubscribedSource === "import" && source !== "import";
  const unsubscribes = reason === "unsubscribe" && ((before?.unsubscribedAt ?? null) === null || isRenewed);
  const { unsubscribedAt, unsubscribedSource } = unsubscribes
    ? { unsubscribedAt: now, unsubscribedSource: source }
    : (before ?? { unsubscribedAt: null, unsubscribedSource: null });
  const stays = before !== undefined && (before.scope === "all" || scope === "marketing");
  if (stays && !unsubscribes) return null;
  const kept = stays ? before : { reason, scope, source, emailId, note: wanted.note ?? before?.note ?? null };
  const row = {
    id: before?.id ?? id(),
    workspaceId,
    // An erased address stays a hash.
    email: before?.email ?? addressKey(wanted.email),
    reason: kept.reason,
    scope: kept.scope,
    source: kept.source,
    emailId: kept.emailId === null ? null : assumeEmailHeld(kept.emailId),
    note: kept.note,
    unsubscribedAt,
    unsubscribedSource,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  return { row, added };
}

/** Inserts suppressions, or updates those of the same addresses, and records `suppression.added`. */
export async function saveSuppressions(tx: Tx, deps: SuppressionDeps, changes: readonly SuppressionChange[]): Promise<void> {
  if (changes.length === 0) return;
  const { suppressions: t } = tx.t;
  await tx
    .insert(t)
    .values(changes.map(({ row }) => row))
    .onConflictDoUpdate({
      target: [t.workspaceId, t.email],
      set: {
        scope: sql`excluded.scope`,
        reason: sql`excluded.reason`,
        source: sql`excluded.source`,
        emailId: sql`excluded.email_id`,
        note: sql`excluded.note`,
        unsubscribedAt: sql`excluded.unsubscribed_at`,
        unsubscribedSource: sql`excluded.unsubscribed_source`,
        updatedAt: sql`excluded.updated_at`,
      },
    });
  const added = changes.flatMap(({ row, added }) => added.map((one) => ({ ...row, ...one })));
  await recordSuppressionEvents(tx, deps, "suppression.added", added);
}

/**
 * Removes suppressions by their ids, and records `suppression.removed`. Returns them as they were. If an address was suppressed
 * for another reason and its person unsubscribed as well, the unsubscription stays, in scope `marketing`: see
 * `keepsUnsubscription`.
 */
export async function removeSuppressionRows(
  tx: Tx,
  deps: SuppressionDeps,
  workspaceId: string,
  ids: readonly string[],
): Promise<SuppressionRow[]> {
  const { suppressions: t } = tx.t;
  const now = deps.clock.now();
  const rows = await tx
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), ne(t.email, ERASED_MARKER), inArray(t.id, [...ids])));
  const kept = rows.filter(keepsUnsubscription).map(({ id }) => id);
  if (kept.length > 0) {
    await tx
      .update(t)
      .set({ reason: "unsubscribe", scope: "marketing", source: sql`${t.unsubscribedSource}`, emailId: null, note: null, updatedAt: now })
      .where(inArray(t.id, kept));
    const removed = rows.filter(keepsUnsubscription);
    await recordSuppressionEvents(tx, deps, "suppression.removed", removed, now);
  }
  const rest = rows.filter((row) => !keepsUnsubscription(row)).map(({ id }) => id);
  if (rest.length > 0) await deleteSuppressions(tx, deps, workspaceId, rest);
  return rows;
}

/** True if the person stays unsubscribed after a suppression is removed. */
export function keepsUnsubscription({ reason, unsubscribedAt }: SuppressionRow): boolean {
  return unsubscribedAt !== null && reason !== "unsubscribe";
}

/**
 * Deletes suppressions by their ids, with what they say of unsubscribing, and records `suppression.removed`. Returns those that existed.
 */
export async function deleteSuppressions(
  tx: Tx,
  deps: SuppressionDeps,
  workspaceId: string,
  ids: readonly string[],
): Promise<SuppressionRow[]> {
  const { suppressions: t } = tx.t;
  const rows = await tx
    .delete(t)
    .where(and(eq(t.workspaceId, workspaceId), ne(t.email, ERASED_MARKER), inArray(t.id, [...ids])))
    .returning();
  await recordSuppressionEvents(tx, deps, "suppression.removed", rows, deps.clock.now());
  return rows;
}

/** The suppressions of these addresses (as from `addressKey`), in every scope, also of erased addresses. */
export async function findSuppressions(
  q: Tx | Reader,
  workspaceId: string,
  emails: readonly string[],
): Promise<Map<string, SuppressionRow>> {
  const rows = await selectByEmails(q, workspaceId, [...emails, ERASED_MARKER]);
  const found = new Map(rows.map((row) => [row.email, row]));
  if (!found.delete(ERASED_MARKER)) return found;
  const hashes = await hashAddresses(q, workspaceId, emails);
  const hashed = await selectByEmails(q, workspaceId, [...hashes.keys()]);
  for (const row of hashed) found.set(hashes.get(row.email) as string, row);
  return found;
}

/**
 * The addresses (as from `addressKey`) no email may go to. With `bypassUnsubscribe` only those suppressed in scope `all` count:
 * a transactional email may then reach people who unsubscribed.
 */
export async function findSuppressed(
  q: Tx | Reader,
  workspaceId: string,
  emails: readonly string[],
  { bypassUnsubscribe = false }: { bypassUnsubscribe?: boolean | undefined } = {},
): Promise<ReadonlySet<string>> {
  const [marker = [], ...rows] = await q.lookUp(
    q.t.suppressions,
    [ERASED_MARKER, ...emails].map((email) => ({ workspaceId, email })),
  );
  // Rare: some addresses of this workspace are hashes, so these have to be looked up by their hashes too.
  const found =
    marker.length > 0 ? [...(await findSuppressions(q, workspaceId, emails))].map(([email, { scope }]) => ({ email, scope })) : rows.flat();
  return new Set(found.filter(({ scope }) => scope === "all" || !bypassUnsubscribe).map(({ email }) => email));
}

/** One suppression, by its id or its address. Throws ApiError not_found. */
export async function getSuppression(read: Reader, workspaceId: string, idOrEmail: string): Promise<Suppression> {
  return showSuppression(await getSuppressionRow(read, workspaceId, idOrEmail));
}

/**
 * Removes a suppression by its id or its address, and returns it as it was; the contact keeps its status. If the person unsubscribed
 * besides, that stays. Throws ApiError not_found.
 */
export async function removeSuppression(tx: Tx, deps: SuppressionDeps, workspaceId: string, idOrEmail: string): Promise<Suppression> {
  const row = await getSuppressionRow(tx, workspaceId, idOrEmail);
  const [removed] = await removeSuppressionRows(tx, deps, workspaceId, [row.id]);
  if (!removed) throw notFound("suppression", idOrEmail);
  return showSuppression(removed);
}

/** The suppressions whose `email` is one of these. */
function selectByEmails(q: Tx | Reader, workspaceId: string, emails: readonly string[]): Promise<SuppressionRow[]> {
  return findRows(q, q.t.suppressions, { workspaceId, email: emails });
}

// Events never contain the address: the log is kept when the person is erased.
function recordSuppressionEvents(
  tx: Tx,
  deps: SuppressionDeps,
  type: EventType & `suppression.${string}`,
  rows: readonly SuppressionRow[],
  at?: number,
): Promise<void> {
  return recordEvents(
    tx,
    deps,
    rows.map(({ workspaceId, emailId, id, reason, scope, source, updatedAt }) => ({
      workspaceId,
      type,
      emailId: emailId === null ? null : assumeEmailHeld(emailId),
      at: at ?? updatedAt,
      data: { suppressionId: id, reason, scope, source },
    })),
  );
}

/** Returns the forms in which an address can be stored: as it is, or as its hash. Never the marker of hashes. */
export async function listStoredForms(q: Tx | Reader, workspaceId: string, email: string): Promise<string[]> {
  const hashes = (await hasErasedAddresses(q, workspaceId)) ? [...(await hashAddresses(q, workspaceId, [email])).keys()] : [];
  return [email || "-", ...hashes];
}

/** A suppression by its id or its address. Throws ApiError not_found. */
export async function getSuppressionRow(
  q: Tx | Reader,
  workspaceId: string,
  idOrEmail: string,
): Promise<SuppressionTables["suppressions"]["$inferSelect"]> {
  const { suppressions: t } = q.t;
  const emails = await listStoredForms(q, workspaceId, addressKey(idOrEmail));
  const [row] = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), ne(t.email, ERASED_MARKER), or(eq(t.id, idOrEmail), inArray(t.email, emails))));
  if (!row) throw notFound("suppression", idOrEmail);
  return row;
}
