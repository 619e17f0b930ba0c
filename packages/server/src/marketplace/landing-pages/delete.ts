import type { LandingPage } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";
import { showPage } from "./show.ts";
import { findPage } from "./store.ts";

/** Deletes a page with all that was counted on it. Throws ApiError not_found. */
export async function deletePage(tx: Tx, deps: Deps, workspaceId: string, id: string): Promise<LandingPage> {
  const viewer = { workspaceId, activationId: null };
  const row = await findPage(tx, viewer, id);
  const { landingPages, landingPageDays, landingPageVisitors, landingPageReferrers, landingPageSubmissions } = tx.t;
  await tx.delete(landingPages).where(eq(landingPages.id, id));
  for (const t of [landingPageDays, landingPageVisitors, landingPageReferrers, landingPageSubmissions])
    await tx.delete(t).where(eq(t.pageId, id));
  return showPage(deps, viewer, row);
}
