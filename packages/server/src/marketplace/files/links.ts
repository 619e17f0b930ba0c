import type { AgentDeps } from "../../deps.ts";
import { SealBroken } from "../../lib/seal.ts";

/** What a link lets its holder see. */
export type LinkPurpose = "download" | "preview";

/** The end of a link that works for `ms`: what it leads to and until when, encrypted, so that no other can be made. */
export function makeLinkToken({ seal, clock }: Pick<AgentDeps, "seal" | "clock">, place: LinkPurpose, id: string, ms: number): string {
  return Buffer.from(seal.seal(`${clock.now() + ms} ${id}`, `link:${place}`)).toString("base64url");
}

/** What a link leads to; null for one that was never made, is over, or belongs elsewhere. */
export function openLinkToken({ seal, clock }: Pick<AgentDeps, "seal" | "clock">, place: LinkPurpose, token: string): string | null {
  const sealed = Buffer.from(token.slice(0, 200), "base64url");
  // In one way of writing only: what is no digit, or too much, would be passed over.
  if (sealed.length < 30 || sealed.toString("base64url") !== token) return null;
  try {
    const [until, id] = seal.open(sealed, `link:${place}`).split(" ");
    return clock.now() < Number(until) ? (id ?? null) : null;
  } catch (error) {
    if (error instanceof SealBroken) return null;
    throw error;
  }
}
