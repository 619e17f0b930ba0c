import { assetPath } from "../../html/urls.ts";
import { SealBroken } from "../../lib/seal.ts";
import type { AgentDeps } from "../agent-access.ts";

type LinkDeps = Pick<AgentDeps, "baseUrl" | "seal" | "clock">;

/** Access that a link grants. */
type LinkPurpose = "download" | "preview";

/** The public address of an image, for mails and pages elsewhere. */
export function assetUrl({ baseUrl }: Pick<AgentDeps, "baseUrl">, { id }: { id: string }): string {
  return `${baseUrl()}${assetPath(id)}`;
}

/** The address of a lead magnet that works for `ms`. */
export function downloadUrl(deps: LinkDeps, id: string, ms: number): string {
  return `${deps.baseUrl()}${downloadPath(deps, id, ms)}`;
}

/** The path of a lead magnet on this server that works for `ms`. */
export function downloadPath(deps: LinkDeps, id: string, ms: number): string {
  return `/f/${makeLinkToken(deps, "download", id, ms)}`;
}

/** A token for a link that works for `ms`. It is encrypted and authenticated, so it cannot be forged or changed. */
export function makeLinkToken({ seal, clock }: Pick<AgentDeps, "seal" | "clock">, purpose: LinkPurpose, id: string, ms: number): string {
  return Buffer.from(seal.seal(`${clock.now() + ms} ${id}`, `link:${purpose}`)).toString("base64url");
}

/** The id a token grants access to; null for a token that is forged, expired or for another purpose. */
export function openLinkToken({ seal, clock }: Pick<AgentDeps, "seal" | "clock">, purpose: LinkPurpose, token: string): string | null {
  const sealed = Buffer.from(token.slice(0, 200), "base64url");
  // Only the canonical spelling: decoding base64url ignores invalid and surplus characters.
  if (sealed.length < 30 || sealed.toString("base64url") !== token) return null;
  try {
    const [until, id] = seal.open(sealed, `link:${purpose}`).split(" ");
    return clock.now() < Number(until) ? (id ?? null) : null;
  } catch (error) {
    if (error instanceof SealBroken) return null;
    throw error;
  }
}
