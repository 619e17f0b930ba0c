import type { Page } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import { notFound } from "../../lib/api-error.ts";
import type { AgentDeps, AgentQuery, AgentTables, AgentTx } from "../agent-access.ts";
import { releaseContent } from "./contents.ts";
import { lockFiles } from "./quota.ts";

/** The libraries of a workspace's files. */
type Library = "assets" | "leadMagnets";

export type FileRow<L extends Library> = AgentTables[L]["$inferSelect"];

const NAMES: Readonly<Record<Library, string>> = { assets: "asset", leadMagnets: "lead magnet" };

/** A file of this workspace. Throws ApiError not_found. */
export async function getFileRow<L extends Library>(q: AgentQuery, library: L, workspaceId: string, id: string): Promise<FileRow<L>> {
  const t: AgentTables[Library] = q.t[library];
  const [row] = await findRows(q, t, { workspaceId, id });
  if (!row) throw notFound(NAMES[library], id);
  return row as FileRow<L>;
}

/** The files of a workspace, newest first. */
export function listFiles<L extends Library, Item>(
  read: Reader<AgentTables>,
  library: L,
  workspaceId: string,
  input: PageInput,
  show: (row: FileRow<L>) => Item,
): Promise<Page<Item>> {
  const t: AgentTables[Library] = read.t[library];
  return listPage(read, input, { table: t, where: eq(t.workspaceId, workspaceId), toItem: (row) => show(row as FileRow<L>) });
}

/** Deletes a file, and its contents unless another file has the same. Throws ApiError not_found. */
export async function deleteFile<L extends Library>(
  tx: AgentTx,
  deps: Pick<AgentDeps, "queue">,
  library: L,
  workspaceId: string,
  id: string,
): Promise<FileRow<L>> {
  await lockFiles(tx, workspaceId);
  const row = await getFileRow(tx, library, workspaceId, id);
  const t: AgentTables[Library] = tx.t[library];
  await tx.delete(t).where(eq(t.id, id));
  await releaseContent(tx, deps, workspaceId, row.sha256);
  return row;
}
