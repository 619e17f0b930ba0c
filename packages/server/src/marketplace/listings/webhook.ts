import type { Deps } from "../../deps.ts";
import type { Random } from "../../lib/random.ts";
import type { ListingRow } from "./store.ts";

/** The secrets that sign events at a moment. */
export interface SigningSecrets {
  /** Signs X-Service-Signature, which holds one value only. */
  readonly current: string;
  /** While a rotation runs: the one that takes over. It signs along where several signatures fit. */
  readonly next: string | null;
}

/** AGENT_WEBHOOK_SECRET: `whsec_` and 32 random bytes in base 64. The key of the HMAC is this text as it stands. */
export function makeSecret(random: Random): string {
  return `whsec_${Buffer.from(random.bytes(32)).toString("base64")}`;
}

export function sealSecret({ seal }: Pick<Deps, "seal">, listingId: string, secret: string): Uint8Array {
  return seal.seal(secret, sealContext(listingId));
}

type Secrets = Pick<ListingRow, "id" | "secret" | "nextSecret" | "nextSecretAt">;

/** The sealed secret that counts now: from the end of the overlap on, the new one. */
export function getCurrentSecret({ secret, nextSecret, nextSecretAt }: Omit<Secrets, "id">, now: number): Uint8Array {
  return nextSecret !== null && nextSecretAt !== null && now >= nextSecretAt ? nextSecret : secret;
}

/** Which secrets sign the events of a listing at this moment. */
export function getSigningSecrets({ seal }: Pick<Deps, "seal">, listing: Secrets, now: number): SigningSecrets {
  const current = getCurrentSecret(listing, now);
  const next = listing.nextSecret !== null && current !== listing.nextSecret ? listing.nextSecret : null;
  return { current: seal.open(current, sealContext(listing.id)), next: next && seal.open(next, sealContext(listing.id)) };
}

function sealContext(listingId: string): string {
  return `listing:${listingId}`;
}
