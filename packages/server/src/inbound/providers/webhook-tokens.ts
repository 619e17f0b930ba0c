import { hash } from "node:crypto";
import { and, like, lt } from "drizzle-orm";
import type { InboundDeps } from "../deps.ts";

/** A token that a provider signs instead of the content, so that the signature alone would let anybody send other content. */
interface WebhookToken {
  readonly provider: "mailgun";
  /** The token with its signature: unique to the account. */
  readonly token: string;
  /** Time of its creation by the clock of the provider, ms. The caller refuses signatures older than `maxAgeMs`. */
  readonly at: number;
  readonly maxAgeMs: number;
  /** Content that came with it. */
  readonly content: string;
}

/**
 * Remembers with what a token came first, as long as its signature is accepted. False if it came with something else before; the same
 * again is a repetition, and true.
 */
export async function claimToken({ db, clock }: InboundDeps, { provider, token, at, maxAgeMs, content }: WebhookToken): Promise<boolean> {
  const prefix = `${provider} token `;
  const key = `${prefix}${dayOf(at)} ${hash("sha256", token)}`;
  const use = `${key} ${hash("sha256", content)}`;
  return db.tx(async (tx) => {
    const { inboundReports: t } = tx.t;
    const receivedAt = clock.now();
    const oldest = clock.real.date() - maxAgeMs;
    // The day is part of the key, so that old tokens are found without an index of their own.
    await tx.delete(t).where(and(like(t.key, `${prefix}%`), lt(t.key, prefix + dayOf(oldest))));
    const [added] = await tx.insert(t).values({ key, receivedAt }).onConflictDoNothing().returning();
    if (added) await tx.insert(t).values({ key: use, receivedAt });
    const [[known] = []] = await tx.lookUp(t, [{ key: use }]);
    return known !== undefined;
  });
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
