import { createHash } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Db, Reader } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Seal } from "../lib/seal.ts";

/** A refresh token that replaced the one that a relay was set up with. */
export interface RotatedToken {
  /** The hash of the one it was set up with. */
  readonly basis: string;
  readonly token: string;
}

/** The SHA-256 of a refresh token, hex; empty for none. */
export function hashToken(token: string | null): string {
  return token === null ? "" : createHash("sha256").update(token).digest("hex");
}

/** The newest refresh token of a relay; null if the token server never gave another one. */
export async function findRotatedToken(read: Reader, seal: Seal, relay: string): Promise<RotatedToken | null> {
  const { relayTokens: t } = read.t;
  const [row] = await read.select().from(t).where(eq(t.relay, relay));
  return row ? { basis: row.basis, token: seal.open(row.token, sealPlace(relay)) } : null;
}

/** Keeps a refresh token over a restart. */
export async function storeRotatedToken(
  db: Db,
  { clock, seal }: { readonly clock: Clock; readonly seal: Seal },
  { relay, basis, token }: RotatedToken & { readonly relay: string },
): Promise<void> {
  const row = { relay, basis, token: seal.seal(token, sealPlace(relay)), updatedAt: clock.now() };
  await db.tx(
    async (tx) => void (await tx.insert(tx.t.relayTokens).values(row).onConflictDoUpdate({ target: tx.t.relayTokens.relay, set: row })),
  );
}

function sealPlace(relay: string): string {
  return `relay-token:${relay}`;
}
