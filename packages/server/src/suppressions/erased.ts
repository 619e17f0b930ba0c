import { createHmac } from "node:crypto";
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";

/**
 * The address of an entry that says: some addresses of this workspace stand here as hashes only, because the people they
 * belong to were erased. Whoever looks addresses up asks for it too, which costs nothing, and works hashes out only when it
 * is there.
 */
export const SOME_ERASED = "";

// The name of the fact that holds the key of the hashes. Made with the first erasure.
const KEY = "erasureKey";

/** The hashes under which addresses (in their compared form) may stand, each with its address. */
export async function hashesOf(q: Tx | Reader, workspaceId: string, emails: readonly string[]): Promise<Map<string, string>> {
  const key = await keyIn(q);
  return new Map(key === null ? [] : emails.map((email) => [hashOf(key, workspaceId, email), email]));
}

/** True when some addresses of a workspace stand as hashes. */
export async function someErased(q: Tx | Reader, workspaceId: string): Promise<boolean> {
  const { suppressions: t } = q.t;
  const rows = await q
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.email, SOME_ERASED)));
  return rows.length > 0;
}

/** Replaces the address of an entry by its keyed hash, and drops what tells more about the person; the address stays suppressed. False when there is no entry. */
export async function eraseAddress(tx: Tx, deps: Deps, workspaceId: string, email: string): Promise<boolean> {
  const { suppressions: t, meta } = tx.t;
  const mine = and(eq(t.workspaceId, workspaceId), eq(t.email, email));
  const [entry] = await tx.select({ id: t.id }).from(t).where(mine);
  if (!entry) return false;
  let key = await keyIn(tx);
  if (key === null) {
    key = Buffer.from(deps.random.bytes(32)).toString("base64url");
    await tx.insert(meta).values({ name: KEY, value: key });
  }
  await tx
    .update(t)
    .set({ email: hashOf(key, workspaceId, email), emailId: null, note: null })
    .where(mine);
  if (!(await someErased(tx, workspaceId))) {
    const now = deps.clock.now();
    const mark = { id: deps.ids("sup"), workspaceId, email: SOME_ERASED, reason: "manual", scope: "all", source: "api" } as const;
    deps.suppressed.add(workspaceId, SOME_ERASED);
    await tx.insert(t).values({ ...mark, emailId: null, note: null, createdAt: now, updatedAt: now });
  }
  return true;
}

/** Without the key nobody can try addresses out against a hash; the workspace is hashed along, so that no two can be compared. */
function hashOf(key: string, workspaceId: string, email: string): string {
  return `hmac:${createHmac("sha256", key).update(`${workspaceId}\n${email}`).digest("hex")}`;
}

async function keyIn(q: Tx | Reader): Promise<string | null> {
  const { meta } = q.t;
  const [row] = await q.select({ value: meta.value }).from(meta).where(eq(meta.name, KEY));
  return row?.value ?? null;
}
