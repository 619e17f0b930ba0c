import { eq } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { invalid } from "../lib/api-error.ts";
import type { RelayNames } from "./deps.ts";

/** Throws ApiError validation_error, about the field `relay`, unless mail of the workspace may take the relay. */
export async function assertRelayOpen(tx: Tx, { relays }: RelayNames, workspaceId: string, name: string): Promise<void> {
  const known = relays.find(name);
  const open = known && known.source !== "api" ? isOpenTo(known.settings, workspaceId) : await isStoredOpen(tx, workspaceId, name);
  if (!open) throw invalid("relay", "unknown_relay", `There is no relay ${name} that mail of this workspace may take.`);
}

/** True if mail of a workspace may take a relay. */
export function isOpenTo({ workspaceId = null }: { readonly workspaceId?: string | null | undefined }, workspace: string): boolean {
  return workspaceId === null || workspaceId === workspace;
}

/** The names of the relays that are for a workspace only. */
export async function listRelaysOf(tx: Tx, workspaceId: string): Promise<string[]> {
  const { relays: t } = tx.t;
  const rows = await tx.select({ name: t.name, settings: t.settings }).from(t);
  return rows.filter(({ settings }) => settings.workspaceId === workspaceId).map(({ name }) => name);
}

async function isStoredOpen(tx: Tx, workspaceId: string, name: string): Promise<boolean> {
  const [row] = await tx.select({ settings: tx.t.relays.settings }).from(tx.t.relays).where(eq(tx.t.relays.name, name));
  return row !== undefined && isOpenTo(row.settings, workspaceId);
}
