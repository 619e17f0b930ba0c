import { type Brand, type BrandSettings, type contract, findLanguageTag, type HandlerInput, TEXT_LIMITS } from "@mailsvc/sdk/contract";
import type { Tx } from "../../db/db.ts";
import type { OwnTexts } from "../../html/texts.ts";
import type { Handlers } from "../../http/handler.ts";
import { invalid } from "../../lib/api-error.ts";
import { type Clock, iso } from "../../lib/clock.ts";
import { type BrandRow, getBrand, saveBrand } from "../../workspaces/workspaces.ts";
import type { AgentDeps, AgentHandlers, AgentQuery } from "../agent-access.ts";
import { assetUrl, findFileRow, getFileRow } from "../files/files.ts";

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
  const logo = row.logoAssetId === null ? null : await findFileRow(q, "assets", row.workspaceId, row.logoAssetId);
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
    texts: row.texts,
  };
}

type Parts = "colors" | "fonts" | "voice";
type Optional<T> = { [K in keyof T]?: T[K] | undefined };

/** A partial update, also within colors, fonts and voice. */
type BrandChange = Optional<
  Omit<BrandRow, "workspaceId" | "updatedAt" | "texts" | Parts> & { texts: BrandTextsUpdate } & { [P in Parts]: Optional<BrandRow[P]> }
>;

/** Updates the given fields. Throws ApiError not_found for a logo that is not in the asset library. */
async function updateBrand(tx: Tx, deps: BrandDeps, workspaceId: string, change: BrandChange): Promise<BrandSettings> {
  const before = await getBrand(tx, workspaceId);
  if (typeof change.logoAssetId === "string") await getFileRow(tx, "assets", workspaceId, change.logoAssetId);
  const { colors, fonts, voice, texts, ...rest } = change;
  const row = {
    ...before,
    ...definedOnly(rest),
    colors: { ...before.colors, ...definedOnly(colors) },
    fonts: { ...before.fonts, ...definedOnly(fonts) },
    voice: { ...before.voice, ...definedOnly(voice) },
    texts: mergeTexts(before.texts, texts ?? {}),
    updatedAt: deps.clock.now(),
  } as BrandRow;
  await saveBrand(tx, row);
  return showBrandSettings(tx, deps, row);
}

type BrandTextsUpdate = NonNullable<HandlerInput<typeof contract.brand.update>["texts"]>;

/** A brand's own texts with some replaced; null removes one, or all of a language. Throws ApiError validation_error for too many languages. */
function mergeTexts(before: OwnTexts, change: BrandTextsUpdate): OwnTexts {
  const merged: Record<string, OwnTexts[string]> = { ...before };
  for (const [name, texts] of Object.entries(change)) {
    const language = findLanguageTag(name) ?? name;
    const kept = texts === null ? [] : Object.entries({ ...before[language], ...definedOnly(texts) }).filter(([, text]) => text !== null);
    if (kept.length > 0) merged[language] = Object.fromEntries(kept);
    else delete merged[language];
  }
  if (Object.keys(merged).length > TEXT_LIMITS.languages)
    throw invalid("texts", "too_big", `A brand can have texts in ${TEXT_LIMITS.languages} languages.`);
  return merged;
}

function definedOnly<T extends object>(change: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(change ?? {}).filter(([, value]) => value !== undefined)) as Partial<T>;
}

export interface BrandDeps {
  readonly clock: Clock;
  /** The public address of this server, without a trailing slash. Known once it listens. */
  baseUrl(): string;
}
