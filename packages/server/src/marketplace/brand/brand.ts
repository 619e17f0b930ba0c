import type { Brand, BrandSettings } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import type { AgentDeps, AgentTx, Deps } from "../../deps.ts";
import { notFound } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentTables, Tables } from "../../schema.ts";
import { assetUrl } from "../files/asset-url.ts";

export type BrandRow = Tables["brands"]["$inferSelect"];

type Source = Reader<AgentTables> | AgentTx;

const NO_COLORS = { primary: null, secondary: null, accent: null, background: null, text: null };

/** The brand of a workspace; before anything was set, one with its name and nothing else. Throws ApiError not_found. */
export async function getBrand(q: Source, workspaceId: string): Promise<BrandRow> {
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

/** A brand as its agents see it. */
export async function showBrand(q: Source, deps: Pick<AgentDeps, "baseUrl">, row: BrandRow): Promise<Brand> {
  const logo = row.logoAssetId === null ? undefined : await findLogo(q, row.workspaceId, row.logoAssetId);
  return {
    name: row.name,
    website: row.website,
    logo: logo ? { url: assetUrl(deps, logo), width: logo.width, height: logo.height } : null,
    colors: row.colors,
    fonts: row.fonts,
    voice: row.voice,
    locale: row.locale,
    timezone: row.timezone,
    updatedAt: iso(row.updatedAt),
  };
}

/** The same with the rules, as its people see it. */
export async function showBrandSettings(q: Source, deps: Pick<AgentDeps, "baseUrl">, row: BrandRow): Promise<BrandSettings> {
  return {
    ...(await showBrand(q, deps, row)),
    logoAssetId: row.logoAssetId,
    publishNeedsApproval: row.publishNeedsApproval,
  };
}

type Parts = "colors" | "fonts" | "voice";
type Optional<T> = { [K in keyof T]?: T[K] | undefined };

/** What a request changes: single fields, of the parts too. */
export type BrandChange = Optional<Omit<BrandRow, "workspaceId" | "updatedAt" | Parts> & { [P in Parts]: Optional<BrandRow[P]> }>;

/** Changes what is sent. Throws ApiError not_found for a logo that is not in the asset library. */
export async function updateBrand(tx: Tx, deps: Deps, workspaceId: string, change: BrandChange): Promise<BrandSettings> {
  const before = await getBrand(tx, workspaceId);
  if (typeof change.logoAssetId === "string" && !(await findLogo(tx, workspaceId, change.logoAssetId)))
    throw notFound("asset", change.logoAssetId);
  const { colors, fonts, voice, ...rest } = change;
  const row = {
    ...before,
    ...definedOnly(rest),
    colors: { ...before.colors, ...definedOnly(colors) },
    fonts: { ...before.fonts, ...definedOnly(fonts) },
    voice: { ...before.voice, ...definedOnly(voice) },
    updatedAt: deps.clock.now(),
  } as BrandRow;
  const { workspaceId: _key, ...set } = row;
  await tx.insert(tx.t.brands).values(row).onConflictDoUpdate({ target: tx.t.brands.workspaceId, set });
  return showBrandSettings(tx, deps, row);
}

async function findLogo(q: Source, workspaceId: string, id: string) {
  const { assets: t } = q.t;
  const [row] = await q
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.id, id)));
  return row;
}

function definedOnly<T extends object>(change: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(change ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>;
}
