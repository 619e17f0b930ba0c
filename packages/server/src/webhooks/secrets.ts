import type { Random } from "../lib/random.ts";
import type { Seal } from "../lib/seal.ts";

/** The sealed secrets of an endpoint. During a rotation there are two. */
export interface EndpointSecrets {
  /** The endpoint's id: its secrets are sealed for it. */
  readonly id: string;
  readonly secret: Uint8Array;
  readonly nextSecret: Uint8Array | null;
  /** Time at which `nextSecret` replaces `secret`. */
  readonly nextSecretAt: number | null;
}

/** The secrets that sign at a moment. */
export interface SigningSecrets {
  /** The only one, or during a rotation the old one. */
  readonly current: string;
  /** During a rotation, the secret that replaces it. Both sign then. */
  readonly next: string | null;
}

/** A new webhook secret: `whsec_` and 32 random bytes in base64. */
export function makeSecret(random: Random): string {
  return `whsec_${Buffer.from(random.bytes(32)).toString("base64")}`;
}

export function sealSecret({ seal }: { readonly seal: Seal }, endpointId: string, secret: string): Uint8Array {
  return seal.seal(secret, endpointSecretPlace(endpointId));
}

/** The sealed secret that is valid now: from the end of the overlap on, the new one. */
export function getCurrentSecret({ secret, nextSecret, nextSecretAt }: Omit<EndpointSecrets, "id">, now: number): Uint8Array {
  return nextSecret !== null && nextSecretAt !== null && now >= nextSecretAt ? nextSecret : secret;
}

/** The secrets that sign the events of an endpoint now. Throws SealBroken when the master key is another one. */
export function getSigningSecrets({ seal }: { readonly seal: Seal }, endpoint: EndpointSecrets, now: number): SigningSecrets {
  const { id, nextSecret } = endpoint;
  const current = getCurrentSecret(endpoint, now);
  const next = nextSecret !== null && current !== nextSecret ? nextSecret : null;
  return { current: seal.open(current, endpointSecretPlace(id)), next: next && seal.open(next, endpointSecretPlace(id)) };
}

/** Encryption context of a secret. Stored secrets open only under this label, so it keeps the name of the first kind of endpoint. */
export function endpointSecretPlace(endpointId: string): string {
  return `listing:${endpointId}`;
}
