import type { Deps } from "../../deps.ts";
import type { Random } from "../../lib/random.ts";
import type { ListingRow } from "./store.ts";

/** The secrets that sign a listing's events at a moment. */
export interface SigningSecrets {
  /** Signs X-Service-Signature, which holds one signature only. */
  readonly current: string;
  /** During a rotation: the next secret. It also signs webhook-signature, which holds several signatures. */
  readonly next: string | null;
}

/** Creates an AGENT_WEBHOOK_SECRET: `whsec_` and 32 random bytes in base64. */
export function makeSecret(random: Random): string {
  return `whsec_${Buffer.from(random.bytes(32)).toString("base64")}`;
}

/** Encrypts a secret for the listing's row. */
export function sealSecret({ seal }: Pick<Deps, "seal">, listingId: string, secret: string): Uint8Array {
  return seal.seal(secret, sealContext(listingId));
}

type Secrets = Pick<ListingRow, "id" | "secret" | "nextSecret" | "nextSecretAt">;

/** The sealed secret in effect now: the new one once the overlap is over. */
export function getCurrentSecret({ secret, nextSecret, nextSecretAt }: Omit<Secrets, "id">, now: number): Uint8Array {
  return nextSecret !== null && nextSecretAt !== null && now >= nextSecretAt ? nextSecret : secret;
}

/** The secrets that sign the events of a listing now. */
export function getSigningSecrets({ seal }: Pick<Deps, "seal">, listing: Secrets, now: number): SigningSecrets {
  const current = getCurrentSecret(listing, now);
  const next = listing.nextSecret !== null && current !== listing.nextSecret ? listing.nextSecret : null;
  return { current: seal.open(current, sealContext(listing.id)), next: next && seal.open(next, sealContext(listing.id)) };
}

function sealContext(listingId: string): string {
  return `listing:${listingId}`;
}
