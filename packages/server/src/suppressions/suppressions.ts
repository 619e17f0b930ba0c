import type { Page, Suppression } from "@mailsvc/sdk/contract";
import { addressKey, parseAddress } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, lt, or, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { type PageInput, pageOf } from "../db/page.ts";
import type { Tables } from "../db/tables.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";

type Row = Tables["suppressions"]["$inferSelect"];

const show = (row: Row): Suppression => ({
  id: row.id,
  email: row.email,
  reason: row.reason,
  scope: row.scope,
  emailId: row.emailId,
  createdAt: iso(row.createdAt),
});

export interface NewSuppression {
  email: string;
  reason: Suppression["reason"];
  scope: Suppression["scope"];
  emailId?: string | null;
}

/** Suppresses an address. An entry that exists is kept; a wider scope widens it, with the reason that came with it. */
export const suppress = async (tx: Tx, deps: Deps, workspaceId: string, wanted: NewSuppression): Promise<Suppression> => {
  const { suppressions } = tx.t;
  const email = addressKey(wanted.email);
  const [before] = await tx
    .select()
    .from(suppressions)
    .where(and(eq(suppressions.workspaceId, workspaceId), eq(suppressions.email, email)));
  if (before && (before.scope === "all" || wanted.scope === "marketing")) return show(before);
  const row: Row = {
    id: before?.id ?? deps.ids("sup"),
    workspaceId,
    email,
    reason: wanted.reason,
    scope: wanted.scope,
    emailId: wanted.emailId ?? null,
    createdAt: before?.createdAt ?? deps.clock.now(),
  };
  await tx
    .insert(suppressions)
    .values(row)
    .onConflictDoUpdate({
      target: [suppressions.workspaceId, suppressions.email],
      set: { scope: row.scope, reason: row.reason, emailId: row.emailId },
    });
  return show(row);
};

const ph = sql.placeholder;

/** Of these addresses (in their compared form), those no transactional mail may go to. */
export const suppressedAmong = async (q: Tx | Reader, workspaceId: string, emails: readonly string[]): Promise<Set<string>> => {
  if (emails.length === 1) {
    const found = await q
      .prepared("is_suppressed", (build, { suppressions: t }) =>
        build
          .select({ email: t.email })
          .from(t)
          .where(and(eq(t.workspaceId, ph("workspaceId")), eq(t.email, ph("email")), eq(t.scope, "all")))
          .prepare("is_suppressed"),
      )
      .execute({ workspaceId, email: emails[0] });
    return new Set(found.map((r) => r.email));
  }
  const { suppressions: t } = q.t;
  const found = await q
    .select({ email: t.email })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), inArray(t.email, [...emails]), eq(t.scope, "all")));
  return new Set(found.map((r) => r.email));
};

/** The compared form of what may be an address. */
const keyOf = (text: string): string => {
  try {
    return addressKey(parseAddress(text).address);
  } catch {
    return addressKey(text);
  }
};

/** Lifts a suppression by its id or its address. Throws ApiError not_found. */
export const unsuppress = async (tx: Tx, workspaceId: string, idOrEmail: string): Promise<Suppression> => {
  const { suppressions: t } = tx.t;
  const [gone] = await tx
    .delete(t)
    .where(and(eq(t.workspaceId, workspaceId), or(eq(t.id, idOrEmail), eq(t.email, keyOf(idOrEmail)))))
    .returning();
  if (!gone) throw notFound("suppression", idOrEmail);
  return show(gone);
};

export interface SuppressionFilter extends PageInput {
  email?: string | undefined;
  reason?: Suppression["reason"] | undefined;
}

export const listSuppressions = (read: Reader, workspaceId: string, input: SuppressionFilter): Promise<Page<Suppression>> => {
  const { suppressions: t } = read.t;
  const where = and(
    eq(t.workspaceId, workspaceId),
    input.email === undefined ? undefined : eq(t.email, addressKey(parseAddress(input.email).address)),
    input.reason && eq(t.reason, input.reason),
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
    show,
  );
};
