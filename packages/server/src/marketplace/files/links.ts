import type { AgentDeps } from "../../deps.ts";
import { SealBroken } from "../../lib/seal.ts";

/** What a link lets its holder see. */
export type LinkPlace = "download" | "preview";

/** The end of a link that works for `ms`: what it leads to and until when, encrypted, so that no other can be made. */
export const linkToken = ({ seal, clock }: Pick<AgentDeps, "seal" | "clock">, place: LinkPlace, id: string, ms: number): string =>
  Buffer.from(seal.seal(`${clock.now() + ms} ${id}`, `link:${place}`)).toString("base64url");

/** What a link leads to; null for one that was never made, is over, or belongs elsewhere. */
export const linkedId = ({ seal, clock }: Pick<AgentDeps, "seal" | "clock">, place: LinkPlace, token: string): string | null => {
  if (!/^[A-Za-z0-9_-]{40,200}$/.test(token)) return null;
  try {
    const [until, id] = seal.open(Buffer.from(token, "base64url"), `link:${place}`).split(" ");
    return clock.now() < Number(until) ? (id ?? null) : null;
  } catch (error) {
    if (error instanceof SealBroken) return null;
    throw error;
  }
};
