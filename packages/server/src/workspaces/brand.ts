import { eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { NO_NAME, type PageBrand } from "../html/page.ts";
import { assetPath } from "../html/urls.ts";
import { notFound } from "../lib/api-error.ts";
import type { WorkspaceTables } from "./tables.ts";

/** Committed rows, or those of a transaction that may act for an agent. */
type BrandQuery = Reader<WorkspaceTables> | Tx<WorkspaceTables>;

export type BrandRow = WorkspaceTables["brands"]["$inferSelect"];

/** The name of the first workspace before it is renamed. It is never shown to customers. */
export const UNNAMED_WORKSPACE = "default";

const NO_COLORS = { primary: null, secondary: null, accent: null, background: null, text: null };

/** The brand of a workspace; with defaults until it is first updated. Throws ApiError not_found. */
export async function getBrand(q: BrandQuery, workspaceId: string): Promise<BrandRow> {
  const [row] = await q.select().from(q.t.brands).where(eq(q.t.brands.workspaceId, workspaceId));
  if (row) return row;
  const [workspace] = await q.select().from(q.t.workspaces).where(eq(q.t.workspaces.id, workspaceId));
  if (!workspace) throw notFound("workspace", workspaceId);
  return {
    workspaceId,
    name: workspace.name,
    website: null,
    logoAssetId: null,
    colors: NO_COLORS,
    fonts: { heading: null, body: null },
    voice: { tone: [], description: "", dos: [], donts: [] },
    locale: "en",
    timezone: "UTC",
    publishNeedsApproval: false,
    updatedAt: workspace.createdAt,
  };
}

/** The names of the brands of workspaces; null for one that nobody has named yet. Throws ApiError not_found. */
export async function listBrandNames(read: Reader, workspaceIds: readonly string[]): Promise<Map<string, string | null>> {
  if (workspaceIds.length === 0) return new Map();
  const rows = await read
    .prepared("names_of_brands", (q, { brands, workspaces }, arg) =>
      q
        .select({ id: workspaces.id, workspace: workspaces.name, brand: brands.name })
        .from(workspaces)
        .leftJoin(brands, eq(brands.workspaceId, workspaces.id))
        .where(read.sqlDialect.among(workspaces.id, arg("ids"))),
    )
    .execute({ ids: JSON.stringify(workspaceIds) });
  const names = new Map(rows.map(({ id, workspace, brand }) => [id, toShownName(brand ?? workspace)]));
  for (const id of workspaceIds) if (!names.has(id)) throw notFound("workspace", id);
  return names;
}

/** Returns the brand as pages and mails of this server show it. Throws ApiError not_found. */
export async function getPageBrand(q: BrandQuery, workspaceId: string): Promise<PageBrand> {
  const { name, website, logoAssetId, colors, fonts, locale } = await getBrand(q, workspaceId);
  return { name: toShownName(name) ?? NO_NAME, website, logo: logoAssetId === null ? null : assetPath(logoAssetId), colors, fonts, locale };
}

function toShownName(name: string): string | null {
  return name === UNNAMED_WORKSPACE ? null : name;
}
