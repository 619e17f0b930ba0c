import type { Tables } from "../../db/tables.ts";
import type { AgentDeps } from "../../deps.ts";

export type PageRow = Tables["landingPages"]["$inferSelect"];

/** How a page is called in its address: people read the slug, and the id finds it, whatever the slug was before. */
export const pageRef = ({ slug, id }: Pick<PageRow, "slug" | "id">): string => `${slug}-${id.slice("lp_".length)}`;

export const pagePath = (row: Pick<PageRow, "slug" | "id">): string => `/p/${pageRef(row)}`;

export const pageUrl = ({ baseUrl }: Pick<AgentDeps, "baseUrl">, row: Pick<PageRow, "slug" | "id">): string =>
  `${baseUrl()}${pagePath(row)}`;

/** The id in an address; null for what no address of a page looks like. */
export const idOfRef = (ref: string): string | null => {
  const id = /^(?:[a-z0-9-]{1,80}-)?([0-9a-z]{26})$/.exec(ref)?.[1];
  return id === undefined ? null : `lp_${id}`;
};
