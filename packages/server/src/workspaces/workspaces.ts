import type { Page, Workspace } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Db, Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { PageBrand } from "../html/page.ts";
import { assetPath } from "../html/urls.ts";
import { createKey, type KeyDeps } from "../keys/keys.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Queue } from "../queue/queue.ts";
import type { MailCapture, RelayChecks, RelayNames } from "../relays/deps.ts";
import { assertRelayOpen } from "../relays/relays.ts";
import type { TrackingDeps } from "../tracking/deps.ts";
import type { WorkspaceTables } from "./tables.ts";

export {
  awaitWorkspace,
  findLiving,
  findWorkspaceAfter,
  hasWorkspace,
  listWorkspaceIds,
  loadWorkspaceNames,
  lockWorkspaces,
  selectWorkspaceIds,
  selectWorkspacesNamed,
  writeWorkspace,
} from "./rows.ts";

/** The fact that names the first workspace of the installation. */
export const FIRST_WORKSPACE = "firstWorkspace";

type Row = WorkspaceTables["workspaces"]["$inferSelect"];

/** Creates a workspace and its owner key, which is in the result and nowhere else. `id` and `apiKey` are given where they exist already. */
export async function createWorkspace(
  tx: Tx,
  deps: WorkspaceDeps,
  { name, id = deps.ids("ws"), apiKey }: { name: string; id?: string | undefined; apiKey?: string | undefined },
): Promise<Workspace & { apiKey: string }> {
  const row: Row = { id, name, relay: null, replies: false, createdAt: deps.clock.now() };
  await tx.insert(tx.t.workspaces).values(row);
  const { key } = await createKey(tx, deps, id, {
    name: "owner",
    permissions: [],
    owner: true,
    ...(apiKey !== undefined && { key: apiKey }),
  });
  return { ...toWorkspace(row), apiKey: key };
}

/** The id of the oldest workspace with this name, which is created if there is none. */
export async function ensureWorkspace(deps: WorkspaceDeps & { readonly db: Db }, name: string): Promise<string> {
  return deps.db.tx(async (tx) => {
    const { workspaces: t } = tx.t;
    const [found] = await tx.select({ id: t.id }).from(t).where(eq(t.name, name)).orderBy(t.id).limit(1);
    return found?.id ?? (await createWorkspace(tx, deps, { name })).id;
  });
}

/** One workspace. Throws ApiError not_found. */
export async function getWorkspace(q: Reader | Tx, id: string): Promise<Workspace> {
  const [row] = await findRows(q, q.t.workspaces, { id });
  if (!row) throw notFound("workspace", id);
  return toWorkspace(row);
}

/** All workspaces of this server, newest first. */
export function listWorkspaces(read: Reader, input: PageInput): Promise<Page<Workspace>> {
  return listPage(read, input, { table: read.t.workspaces, where: undefined, toItem: toWorkspace });
}

/**
 * Changes the fields of a workspace that are given. Throws ApiError not_found, or validation_error for an unknown relay, and for replies
 * where no mail is received.
 */
export async function updateWorkspace(
  tx: Tx,
  deps: WorkspaceDeps,
  id: string,
  changes: { name?: string | undefined; relay?: string | null | undefined; replies?: boolean | undefined },
): Promise<Workspace> {
  const before = await getWorkspace(tx, id);
  const { name = before.name, relay = before.relay, replies = before.replies } = changes;
  if (relay !== null && changes.relay !== undefined) await assertRelayOpen(tx, deps, id, relay);
  if (changes.replies) assertReceives(deps);
  const after = { name, relay, replies };
  await tx.update(tx.t.workspaces).set(after).where(eq(tx.t.workspaces.id, id));
  return { ...before, ...after };
}

/** Gives a workspace a name, unless somebody has named it already. */
export async function nameUnnamed(tx: Tx, id: string, name: string): Promise<void> {
  const { workspaces: t } = tx.t;
  await tx
    .update(t)
    .set({ name })
    .where(and(eq(t.id, id), eq(t.name, UNNAMED_WORKSPACE)));
}

function toWorkspace({ id, name, relay, replies, createdAt }: Row): Workspace {
  return { id, name, relay, replies, createdAt: iso(createdAt) };
}

function assertReceives({ config }: WorkspaceDeps): void {
  if (config.replyDomain !== null) return;
  const message = "replies cannot be true, because this server receives no mail.";
  throw new ApiError("validation_error", message, {
    details: [{ path: "replies", code: "no_inbound_domain", message }],
    hint: "Start the server with --inbound-domain and --inbound-smtp-port.",
  });
}

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

/** Stores a brand. */
export async function saveBrand(tx: Tx<WorkspaceTables>, row: BrandRow): Promise<void> {
  const { workspaceId: _key, ...set } = row;
  await tx.insert(tx.t.brands).values(row).onConflictDoUpdate({ target: tx.t.brands.workspaceId, set });
}

/** Takes the logo from a brand whose logo is this asset. */
export async function forgetLogo(tx: Tx<WorkspaceTables>, workspaceId: string, assetId: string): Promise<void> {
  const { brands: t } = tx.t;
  await tx
    .update(t)
    .set({ logoAssetId: null })
    .where(and(eq(t.workspaceId, workspaceId), eq(t.logoAssetId, assetId)));
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

export interface WorkspaceDeps extends KeyDeps {
  readonly config: KeyDeps["config"] & {
    /** The domain of reply addresses; null if this server receives no mail. */
    readonly replyDomain: string | null;
  };
  readonly relays: RelayNames["relays"] & RelayChecks["relays"] & MailCapture["relays"];
  /** Keeps targets of tracked links in memory. */
  readonly tracker: TrackingDeps["tracker"];
  readonly mailer: Mailer;
  readonly queue: Queue;
  readonly version: string;
  readonly showsMarketplace: ShowsMarketplace;
}

/** Tells if agents are offered on this server, so that what is about them is shown. */
export type ShowsMarketplace = (read: Reader) => Promise<boolean>;
