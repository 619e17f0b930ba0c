import type { CampaignDetail, List, Segment } from "@mailsvc/sdk/contract";
import { and, eq, gte, inArray } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { ApiError } from "../lib/api-error.ts";
import { getList } from "../lists/lists.ts";
import { getSegment } from "../segments/segments.ts";
import type { CampaignRow } from "./campaigns.ts";

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

/**
 * Returns the ids of contacts that left the lists of a campaign by themselves since it started, and so do not want it any more. Empty
 * for a campaign that has recipients besides lists. A contact still on one of the lists has not left, and members that the sender
 * removed are no departures: the audience of the start counts.
 */
export async function listDepartures(
  read: Reader,
  campaign: CampaignRow,
  contacts: readonly { readonly id: string; readonly seq: number }[],
): Promise<Set<string>> {
  const listIds = getLists(campaign);
  if (listIds.length === 0 || contacts.length === 0) return new Set();
  const { listMembers: m, events: e } = read.t;
  const lists = await findRows(read, read.t.lists, { workspaceId: campaign.workspaceId, id: listIds });
  const members = await read
    .select({ seq: m.contactSeq })
    .from(m)
    .where(
      and(
        inArray(
          m.listSeq,
          lists.map(({ seq }) => seq),
        ),
        inArray(
          m.contactSeq,
          contacts.map(({ seq }) => seq),
        ),
        eq(m.status, "MEMBER"),
      ),
    );
  const on = new Set(members.map(({ seq }) => seq));
  // Few: most stay.
  const missing = contacts.filter(({ seq }) => !on.has(seq)).map(({ id }) => id);
  if (missing.length === 0) return new Set();
  const left = await read
    .select({ contactId: e.contactId, data: e.data })
    .from(e)
    .where(and(inArray(e.contactId, missing), eq(e.type, "list.left"), gte(e.at, campaign.startedAt ?? 0)));
  return new Set(
    left.flatMap(({ contactId, data }) =>
      contactId !== null && data?.["source"] === "preferences" && listIds.includes(String(data["listId"])) ? contactId : [],
    ),
  );
}

/** The lists of a campaign that goes to nothing else. */
function getLists({ recipientType, listId, include }: CampaignRow): readonly string[] {
  if (recipientType === "list" && listId !== null) return [listId];
  return recipientType === "groups" && include.every(isList) ? include : [];
}
