import type { Page, Suppression, SuppressionEventType } from "@mailsvc/sdk/contract";
import { addressKey, parseAddress } from "@mailsvc/sdk/contract";
import { and, desc, eq, gte, inArray, lt, ne, or, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { type PageInput, pageOf } from "../db/pagination.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { Tables } from "../schema.ts";
import { hashesOf, SOME_ERASED, someErased } from "./erased.ts";

export { eraseAddress } from "./erased.ts";

export type SuppressionEntry = Tables["suppressions"]["$inferSelect"];

export function showSuppression(row: SuppressionEntry): Suppression {
  return {
    id: row.id,
    email: row.email,
    reason: row.reason,
    scope: row.scope,
    source: row.source,
    emailId: row.emailId,
    note: row.note,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

export interface NewSuppression {
  email: string;
  reason: Suppression["reason"];
  scope: Suppression["scope"];
  source: Suppression["source"];
  emailId?: string | null;
  note?: string | null | undefined;
}

/** What a wish makes of the entry there is: the entry as it will stand, or null when nothing changes. */
export function merged(
  before: SuppressionEntry | undefined,
  wanted: NewSuppression,
  id: () => string,
  workspaceId: string,
  now: number,
): SuppressionEntry | null {
  return before && (before.scope === "all" || wanted.scope === "marketing")
    ? null
    : {
        id: before?.id ?? id(),
        workspaceId,
        // An address that was erased stays a hash.
        email: before?.email ?? addressKey(wanted.email),
        reason: wanted.reason,
        scope: wanted.scope,
        source: wanted.source,
        emailId: wanted.emailId ?? null,
        note: wanted.note ?? before?.note ?? null,
        createdAt: before?.createdAt ?? now,
        updatedAt: now,
      };
}

/** Writes entries, over those of the same addresses. */
export async function putSuppressions(tx: Tx, deps: Pick<Deps, "suppressed">, rows: readonly SuppressionEntry[]): Promise<void> {
  if (rows.length === 0) return;
  for (const { workspaceId, email } of rows) deps.suppressed.add(workspaceId, email);
  const { suppressions: t } = tx.t;
  await tx
    .insert(t)
    .values([...rows])
    .onConflictDoUpdate({
      target: [t.workspaceId, t.email],
      set: {
        scope: sql`excluded.scope`,
        reason: sql`excluded.reason`,
        source: sql`excluded.source`,
        emailId: sql`excluded.email_id`,
        note: sql`excluded.note`,
        updatedAt: sql`excluded.updated_at`,
      },
    });
  await note(tx, "suppression.added", rows);
}

/** Tells of entries that were lifted. */
export function noteLifted(tx: Tx, deps: Pick<Deps, "clock">, rows: readonly SuppressionEntry[]): Promise<void> {
  return note(tx, "suppression.removed", rows, deps.clock.now());
}

/** The entries of these addresses, in their compared form. */
export async function suppressionsOf(
  q: Tx | Reader,
  workspaceId: string,
  emails: readonly string[],
): Promise<Map<string, SuppressionEntry>> {
  const { suppressions: t } = q.t;
  const rows = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), inArray(t.email, [...emails, SOME_ERASED])));
  const found = new Map(rows.map((row) => [row.email, row]));
  if (!found.delete(SOME_ERASED)) return found;
  const hashes = await hashesOf(q, workspaceId, emails);
  const hashed = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), inArray(t.email, [...hashes.keys()])));
  for (const row of hashed) found.set(hashes.get(row.email) as string, row);
  return found;
}

/** Suppresses an address. An entry that exists is kept; a wider scope widens it, with the reason that came with it. */
export async function suppress(tx: Tx, deps: Deps, workspaceId: string, wanted: NewSuppression): Promise<Suppression> {
  const email = addressKey(wanted.email);
  const before = (await suppressionsOf(tx, workspaceId, [email])).get(email);
  const row = merged(before, wanted, () => deps.ids("sup"), workspaceId, deps.clock.now());
  if (row) await putSuppressions(tx, deps, [row]);
  return showSuppression(row ?? (before as SuppressionEntry));
}

const ph = sql.placeholder;

const NOBODY: ReadonlySet<string> = new Set();

/** Of these addresses (in their compared form), those no transactional mail may go to. No promise where memory knows. */
export function suppressedAmong(
  q: Tx | Reader,
  deps: Pick<Deps, "suppressed">,
  workspaceId: string,
  emails: readonly string[],
): ReadonlySet<string> | Promise<ReadonlySet<string>> {
  return deps.suppressed.mayHold(workspaceId, emails) ? stored(q, workspaceId, emails) : NOBODY;
}

/** The compared form of what may be an address. */
export function keyOf(text: string): string {
  try {
    return addressKey(parseAddress(text).address);
  } catch {
    return addressKey(text);
  }
}

/** One suppression, by its id or its address. Throws ApiError not_found. */
export async function getSuppression(read: Reader, workspaceId: string, idOrEmail: string): Promise<Suppression> {
  const [row] = await read
    .select()
    .from(read.t.suppressions)
    .where(await named(read, workspaceId, idOrEmail));
  if (!row) throw notFound("suppression", idOrEmail);
  return showSuppression(row);
}

/** Lifts a suppression by its id or its address. Throws ApiError not_found. */
export async function unsuppress(tx: Tx, deps: Deps, workspaceId: string, idOrEmail: string): Promise<Suppression> {
  const [gone] = await tx
    .delete(tx.t.suppressions)
    .where(await named(tx, workspaceId, idOrEmail))
    .returning();
  if (!gone) throw notFound("suppression", idOrEmail);
  await noteLifted(tx, deps, [gone]);
  return showSuppression(gone);
}

export interface SuppressionFilter extends PageInput {
  email?: string | undefined;
  search?: string | undefined;
  reason?: Suppression["reason"] | undefined;
  scope?: Suppression["scope"] | undefined;
  source?: Suppression["source"] | undefined;
  since?: string | undefined;
}

export async function listSuppressions(read: Reader, workspaceId: string, input: SuppressionFilter): Promise<Page<Suppression>> {
  const { suppressions: t } = read.t;
  const where = and(
    eq(t.workspaceId, workspaceId),
    ne(t.email, SOME_ERASED),
    input.email === undefined
      ? undefined
      : inArray(t.email, await formsOf(read, workspaceId, addressKey(parseAddress(input.email).address))),
    input.search === undefined ? undefined : contains(read.sqlDialect, t.email, input.search),
    input.reason && eq(t.reason, input.reason),
    input.scope && eq(t.scope, input.scope),
    input.source && eq(t.source, input.source),
    input.since === undefined ? undefined : gte(t.createdAt, Date.parse(input.since)),
  );
  return pageOf(
    input,
    ({ before, limit, offset }) =>
      read
        .select()
        .from(t)
        .where(and(where, before === null ? undefined : lt(t.id, before)))
        .orderBy(desc(t.id))
        .limit(limit)
        .offset(offset),
    () => read.$count(t, where),
    showSuppression,
  );
}

// Without the address: the log outlives the person.
function note(tx: Tx, type: SuppressionEventType, rows: readonly SuppressionEntry[], at?: number): Promise<void> {
  return tx.insertAll(
    tx.t.events,
    rows.map(({ workspaceId, emailId, id, reason, scope, source, updatedAt }) => ({
      workspaceId,
      type,
      emailId,
      contactId: null,
      at: at ?? updatedAt,
      data: { suppressionId: id, reason, scope, source },
    })),
  );
}

async function stored(q: Tx | Reader, workspaceId: string, emails: readonly string[]): Promise<Set<string>> {
  if (emails.length === 1) {
    const found = await q
      .prepared("is_suppressed", (build, { suppressions: t }) =>
        build
          .select({ email: t.email })
          .from(t)
          .where(and(eq(t.workspaceId, ph("workspaceId")), inArray(t.email, [ph("email"), SOME_ERASED]), eq(t.scope, "all")))
          .prepare("is_suppressed"),
      )
      .execute({ workspaceId, email: emails[0] });
    return withErased(q, workspaceId, emails, new Set(found.map((r) => r.email)));
  }
  const { suppressions: t } = q.t;
  const found = await q
    .select({ email: t.email })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), inArray(t.email, [...emails, SOME_ERASED]), eq(t.scope, "all")));
  return withErased(q, workspaceId, emails, new Set(found.map((r) => r.email)));
}

/** Adds those of which only a hash is kept. */
async function withErased(q: Tx | Reader, workspaceId: string, emails: readonly string[], found: Set<string>): Promise<Set<string>> {
  if (!found.delete(SOME_ERASED)) return found;
  for (const [email, { scope }] of await suppressionsOf(q, workspaceId, emails)) if (scope === "all") found.add(email);
  return found;
}

/** An address as it may stand: itself, or its hash. Never the mark of hashes. */
async function formsOf(q: Tx | Reader, workspaceId: string, email: string): Promise<string[]> {
  const hashed = (await someErased(q, workspaceId)) ? [...(await hashesOf(q, workspaceId, [email])).keys()] : [];
  return [email || "-", ...hashed];
}

async function named(q: Tx | Reader, workspaceId: string, idOrEmail: string) {
  const { suppressions: t } = q.t;
  const emails = await formsOf(q, workspaceId, keyOf(idOrEmail));
  return and(eq(t.workspaceId, workspaceId), ne(t.email, SOME_ERASED), or(eq(t.id, idOrEmail), inArray(t.email, emails)));
}
