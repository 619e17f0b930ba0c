import { createHmac } from "node:crypto";
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findFact, writeFact } from "../db/facts.ts";
import { findRows } from "../db/find.ts";
import type { SuppressionDeps } from "./deps.ts";

/**
 * The `email` of a marker row. A workspace has it once a suppressed person was erased, which leaves the address as a keyed hash
 * only. Lookups ask for the marker together with the addresses, which costs nothing, and compute hashes only if it exists.
 */
export const ERASED_MARKER = "";

// The fact with the key of the hashes. Created by the first erasure.
const KEY = "erasureKey";

/** The hashes under which erased addresses (as from `addressKey`) are stored, each with its address. */
export async function hashAddresses(q: Tx | Reader, workspaceId: string, emails: readonly string[]): Promise<Map<string, string>> {
  const key = await findErasureKey(q);
  return new Map(key === null ? [] : emails.map((email) => [hashAddress(key, workspaceId, email), email]));
}

/** True if some addresses of a workspace are stored as hashes. */
export async function hasErasedAddresses(q: Tx | Reader, workspaceId: string): Promise<boolean> {
  const { suppressions: t } = q.t;
  const rows = await findRows(q, t, { workspaceId, email: ERASED_MARKER });
  return rows.length > 0;
}

/**
 * Replaces the address of a suppression by its keyed hash and clears everything else about the person. The scope stays, so the
 * address is suppressed as before. Returns false if the address is not suppressed.
 */
export async function eraseAddress(tx: Tx, deps: SuppressionDeps, workspaceId: string, email: string): Promise<boolean> {
  const { suppressions: t } = tx.t;
  const mine = and(eq(t.workspaceId, workspaceId), eq(t.email, email));
  const [entry] = await tx.select({ id: t.id }).from(t).where(mine);
  if (!entry) return false;
  let key = await findErasureKey(tx);
  if (key === null) {
    key = Buffer.from(deps.random.bytes(32)).toString("base64url");
    await writeFact(tx, KEY, key);
  }
  await tx
    .update(t)
    .set({ email: hashAddress(key, workspaceId, email), emailId: null, note: null })
    .where(mine);
  if (!(await hasErasedAddresses(tx, workspaceId))) {
    const now = deps.clock.now();
    const marker = { id: deps.ids("sup"), workspaceId, email: ERASED_MARKER, reason: "manual", scope: "all", source: "api" } as const;
    await tx
      .insert(t)
      .values({ ...marker, emailId: null, note: null, unsubscribedAt: null, unsubscribedSource: null, createdAt: now, updatedAt: now });
  }
  return true;
}

/**
 * Keyed, so that a copy of the database does not allow trying addresses against a hash. The workspace is part of the input, so
 * that hashes of two workspaces cannot be compared.
 */
function hashAddress(key: string, workspaceId: string, email: string): string {
  return `hmac:${createHmac("sha256", key).update(`${workspaceId}\n${email}`).digest("hex")}`;
}

function findErasureKey(q: Tx | Reader): Promise<string | null> {
  return findFact(q, KEY);
}
