import { eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { PageBrand } from "../html/page.ts";
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
    locale: null,
    texts: {},
    timezone: "UTC",
    publishNeedsApproval: false,
    updatedAt: workspace.createdAt,
  };
}

/** The names of brands, null for one that nobody has named yet, with their languages and texts. Throws ApiError not_found. */
export async function loadBrandWords(
  read: Reader,
  workspaceIds: readonly string[],
): Promise<Map<string, Pick<PageBrand, "name" | "locale" | "texts">>> {
  if (workspaceIds.length === 0) return new Map();
  const rows = await read
    .prepared("words_of_brands", (q, { brands, workspaces }, arg) =>
      q
        .select({ id: workspaces.id, workspace: workspaces.name, brand: brands.name, locale: brands.locale, texts: brands.texts })
        .from(workspaces)
        .leftJoin(brands, eq(brands.workspaceId, workspaces.id))
        .where(read.sqlDialect.among(workspaces.id, arg("ids"))),
    )
    .execute({ ids: JSON.stringify(workspaceIds) });
  const words = new Map(
    rows.map(({ id, workspace, brand, locale, texts }) => [id, { name: toShownName(brand ?? workspace), locale, texts: texts ?? {} }]),
  );
  for (const id of workspaceIds) if (!words.has(id)) throw notFound("workspace", id);
  return words;
}

/** Returns the brand as pages and mails of this server show it. Throws ApiError not_found. */
export async function getPageBrand(q: BrandQuery, workspaceId: string): Promise<PageBrand> {
  const { name, website, logoAssetId, colors, fonts, locale, texts } = await getBrand(q, workspaceId);
  const logo = logoAssetId === null ? null : assetPath(logoAssetId);
  return { name: toShownName(name), website, logo, colors, fonts, locale, texts };
}

function toShownName(name: string): string | null {
  return name === UNNAMED_WORKSPACE ? null : name;
}
