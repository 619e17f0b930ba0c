import { createHash } from "node:crypto";
import { and, eq } from "drizzle-orm";
import * as z from "zod";
import type { Db, Reader } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Seal } from "../lib/seal.ts";
import { SECOND } from "../lib/units.ts";
import type { StoredTokens, TokenStore } from "../mail/access-tokens.ts";

// Longer than a token server may take to answer.
const LEASE_MS = 30 * SECOND;

/** Sealed content of a relay's row. Times in ms since 1970, by the clocks of the machines. */
const Sealed = z.object({
  refreshToken: z.string().nullable(),
  access: z.object({ value: z.string(), renewAt: z.number(), endsAt: z.number() }).nullable(),
  /** End of the lease of the process that may be asking the token server; 0 for none. */
  leasedUntil: z.number(),
});
type Sealed = z.infer<typeof Sealed>;

const NOTHING: Sealed = { refreshToken: null, access: null, leasedUntil: 0 };

interface TokenStoreParts {
  readonly db: () => Db;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly relay: string;
  /** The refresh token that the relay was set up with. Tokens that came from another one are not used. */
  readonly refreshToken: string | null;
}

/**
 * The tokens of a relay, in one row of the database that all processes read. A process that asks the token server holds a lease
 * in that row, so that no transaction stays open meanwhile. Each write replaces the row as it was read, so only one of two
 * processes gets the lease.
 */
export class RelayTokenStore implements TokenStore {
  readonly #parts: TokenStoreParts;
  readonly #basis: string;
  /** The row as this process wrote it when it took the lease. */
  #lease: { readonly bytes: Uint8Array; readonly content: Sealed } | null = null;

  constructor(parts: TokenStoreParts) {
    this.#parts = parts;
    this.#basis = createHash("sha256")
      .update(parts.refreshToken ?? "")
      .digest("hex");
  }

  async begin(): Promise<StoredTokens | null> {
    const { db, clock } = this.#parts;
    const now = clock.real.date();
    const row = await this.#find(db().read);
    const known = row?.content ?? NOTHING;
    if (known.leasedUntil > now) return null;
    const content = { ...known, leasedUntil: now + LEASE_MS };
    const bytes = await this.#replace(row?.bytes ?? null, content);
    if (bytes === null) return null;
    this.#lease = { bytes, content };
    const { refreshToken, access } = content;
    return { refreshToken, access: access && { value: access.value, renewIn: access.renewAt - now, endsIn: access.endsAt - now } };
  }

  async end(tokens: StoredTokens | null): Promise<void> {
    const lease = this.#lease;
    this.#lease = null;
    if (tokens === null) {
      if (lease) await this.#replace(lease.bytes, { ...lease.content, leasedUntil: 0 });
      return;
    }
    const now = this.#parts.clock.real.date();
    const { refreshToken, access } = tokens;
    const content: Sealed = {
      refreshToken,
      access: access && { value: access.value, renewAt: now + access.renewIn, endsAt: now + access.endsIn },
      leasedUntil: 0,
    };
    // Written also if the lease has ended: the newest refresh token must not be lost.
    const row = this.#toRow(content);
    const { db } = this.#parts;
    await db().tx(
      async (tx) => void (await tx.insert(tx.t.relayTokens).values(row).onConflictDoUpdate({ target: tx.t.relayTokens.relay, set: row })),
    );
  }

  async #find(read: Reader): Promise<{ bytes: Uint8Array; content: Sealed } | null> {
    const { seal, relay } = this.#parts;
    const { relayTokens: t } = read.t;
    const [row] = await read.select().from(t).where(eq(t.relay, relay));
    if (!row) return null;
    return {
      bytes: row.token,
      content: row.basis === this.#basis ? Sealed.parse(JSON.parse(seal.open(row.token, relayTokenPlace(relay)))) : NOTHING,
    };
  }

  /** Writes the row if it still is as it was read, null for none; the bytes that are in it then, or null if it has changed. */
  async #replace(before: Uint8Array | null, content: Sealed): Promise<Uint8Array | null> {
    const { db, relay } = this.#parts;
    const row = this.#toRow(content);
    const written = await db().tx(async (tx) => {
      const { relayTokens: t } = tx.t;
      if (before === null) return tx.insert(t).values(row).onConflictDoNothing().returning({ relay: t.relay });
      return tx
        .update(t)
        .set(row)
        .where(and(eq(t.relay, relay), eq(t.token, before)))
        .returning({ relay: t.relay });
    });
    return written.length > 0 ? row.token : null;
  }

  #toRow(content: Sealed) {
    const { clock, seal, relay } = this.#parts;
    return { relay, basis: this.#basis, token: seal.seal(JSON.stringify(content), relayTokenPlace(relay)), updatedAt: clock.now() };
  }
}

/** Encryption context of a relay's tokens. */
export function relayTokenPlace(relay: string): string {
  return `relay-token:${relay}`;
}
