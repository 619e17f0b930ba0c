import type { LandingPage, LandingPageSummary } from "@mailsvc/sdk/contract";
import type { AgentDeps } from "../../deps.ts";
import { iso } from "../../lib/clock.ts";
import { makeLinkToken } from "../files/links.ts";
import { type PageRow, pageUrl } from "./address.ts";
import type { Viewer } from "./store.ts";

type ShowDeps = Pick<AgentDeps, "baseUrl" | "seal" | "clock">;

const HOUR = 3_600_000;

/** A page without its content. An agent is not told which other agent made it. */
export function summaryOf(deps: Pick<AgentDeps, "baseUrl">, viewer: Viewer, row: Omit<PageRow, "html" | "blocks">): LandingPageSummary {
  const named = viewer.activationId === null || viewer.activationId === row.activationId;
  return {
    id: row.id,
    slug: row.slug,
    url: pageUrl(deps, row),
    title: row.title,
    status: row.status,
    version: row.version,
    hasForm: row.hasForm,
    leadMagnetId: row.leadMagnetId,
    listId: row.listId,
    runId: named ? row.runId : null,
    createdBy: { agent: row.activationId !== null, activationId: named ? row.activationId : null },
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
    publishedAt: row.publishedAt === null ? null : iso(row.publishedAt),
  };
}

export function showPage(deps: ShowDeps, viewer: Viewer, row: PageRow): LandingPage {
  return {
    ...summaryOf(deps, viewer, row),
    html: row.html,
    blocks: row.blocks,
    seo: row.seo,
    form: row.form,
    previewUrl: `${pageUrl(deps, row)}?preview=${makeLinkToken(deps, "preview", row.id, HOUR)}`,
  };
}
