import type { CampaignDetail, List, Segment } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import { getList } from "../lists/lists.ts";
import { getSegment } from "../segments/segments.ts";

/** True for the id of a list; all other ids are taken for segments. */
export function isList(id: string): boolean {
  return id.startsWith("list_");
}

/** Lists and segments by their ids, as a campaign shows them; without those that do not exist. */
export async function listGroups(q: Tx | Reader, workspaceId: string, ids: readonly string[]): Promise<CampaignDetail["included"]> {
  const groups: CampaignDetail["included"] = [];
  for (const id of ids) {
    const type = isList(id) ? "list" : "segment";
    const found = await unlessDeleted<List | Segment>(type === "list" ? getList(q, workspaceId, id) : getSegment(q, workspaceId, id));
    if (found) groups.push({ id, type, name: found.name, memberCount: found.memberCount });
  }
  return groups;
}

/** Null for something that does not exist any more. */
export async function unlessDeleted<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return null;
    throw error;
  }
}
