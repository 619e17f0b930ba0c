import type { AgentDeps } from "../../deps.ts";
import type { Tables } from "../../schema.ts";

export type PageRow = Tables["landingPages"]["$inferSelect"];

/** How a page is called in its address: people read the slug, and the id finds it, whatever the slug was before. */
export function pageRef({ slug, id }: Pick<PageRow, "slug" | "id">): string {
  return `${slug}-${id.slice("lp_".length)}`;
}

export function pagePath(row: Pick<PageRow, "slug" | "id">): string {
  return `/p/${pageRef(row)}`;
}

export function pageUrl({ baseUrl }: Pick<AgentDeps, "baseUrl">, row: Pick<PageRow, "slug" | "id">): string {
  return `${baseUrl()}${pagePath(row)}`;
}

/** The id in an address; null for what no address of a page looks like. */
export function idOfRef(ref: string): string | null {
  const id = /^(?:[a-z0-9-]{1,80}-)?([0-9a-z]{26})$/.exec(ref)?.[1];
  return id === undefined ? null : `lp_${id}`;
}
