import type { AgentDeps } from "../../deps.ts";

/** Where an image of the asset library is shown: to everybody who has the address, since mails and pages point there. */
export function assetUrl({ baseUrl }: Pick<AgentDeps, "baseUrl">, { id }: { id: string }): string {
  return `${baseUrl()}${assetPath(id)}`;
}

/** The same for pages of this server. */
export function assetPath(id: string): string {
  return `/a/${id}`;
}
