import type { Brand, BrandSettings, contract } from "@mailsvc/sdk/contract";
import type { Tx } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import type { Handlers } from "../../http/handler.ts";
import { iso } from "../../lib/clock.ts";
import { type BrandRow, getBrand } from "../../workspaces/workspaces.ts";
import type { AgentDeps, AgentHandlers, AgentQuery } from "../agent-access.ts";
import { assetUrl, getFileRow } from "../files/files.ts";
import type { BrandDeps } from "./deps.ts";

/** The brand, for its people. */
export const brandHandlers: Handlers<typeof contract.brand, BrandDeps> = {
  get: async (_input, { read, deps, workspaceId }) => showBrandSettings(read, deps, await getBrand(read, workspaceId)),
  update: (input, { tx, deps, workspaceId }) => updateBrand(tx, deps, workspaceId, input),
};

/** The brand, for its agents. */
export const agentBrandHandlers: AgentHandlers<"brand"> = {
  get: async (_input, { read, deps, workspaceId }) => showBrand(read, deps, await getBrand(read, workspaceId)),
};

/** A brand as its agents see it. */
async function showBrand(q: AgentQuery, deps: Pick<AgentDeps, "baseUrl">, row: BrandRow): Promise<Brand> {
  const logo = row.logoAssetId === null ? null : await findLogo(q, row.workspaceId, row.logoAssetId);
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

/** The brand with its rules, as its people see it. */
async function showBrandSettings(q: AgentQuery, deps: Pick<AgentDeps, "baseUrl">, row: BrandRow): Promise<BrandSettings> {
  return {
    ...(await showBrand(q, deps, row)),
    logoAssetId: row.logoAssetId,
    publishNeedsApproval: row.publishNeedsApproval,
  };
}

type Parts = "colors" | "fonts" | "voice";
type Optional<T> = { [K in keyof T]?: T[K] | undefined };

/** A partial update, also within colors, fonts and voice. */
type BrandChange = Optional<Omit<BrandRow, "workspaceId" | "updatedAt" | Parts> & { [P in Parts]: Optional<BrandRow[P]> }>;

/** Updates the given fields. Throws ApiError not_found for a logo that is not in the asset library. */
async function updateBrand(tx: Tx, deps: BrandDeps, workspaceId: string, change: BrandChange): Promise<BrandSettings> {
  const before = await getBrand(tx, workspaceId);
  if (typeof change.logoAssetId === "string") await getFileRow(tx, "assets", workspaceId, change.logoAssetId);
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

async function findLogo(q: AgentQuery, workspaceId: string, id: string) {
  const { assets: t } = q.t;
  const [row] = await findRows(q, t, { workspaceId, id });
  return row ?? null;
}

function definedOnly<T extends object>(change: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(change ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>;
}
