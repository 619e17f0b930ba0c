import type { CampaignDetail, List, Segment } from "@mailsvc/sdk/contract";
import { and, eq, exists, gte, inArray, isNotNull, min, or } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { OF_CAMPAIGN, OPEN } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import { DAY } from "../lib/units.ts";
import { findMembersOfAny, getList } from "../lists/lists.ts";
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
  const { events: e } = read.t;
  const on = await findMembersOfAny(
    read,
    campaign.workspaceId,
    listIds,
    contacts.map(({ seq }) => seq),
  );
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

/*
 * Campaigns know by `list.left` who left their lists since they started (campaigns/groups.ts). So these events stay, however old, while
 * mail of a campaign that started before them waits: the campaign is SENDING or PAUSED, or it is SENT and some of its mail is tried again.
 */

// Mail is tried again for two days.
const RETRIED_MS = 4 * DAY;

/** Returns the keys that must stay, out of these. */
export async function listNeededDepartures(q: Tx | Reader, keys: readonly number[], before: number): Promise<Set<number>> {
  const { events: e } = q.t;
  const rows = await q
    .select({ key: e.sequence, workspaceId: e.workspaceId, at: e.at })
    .from(e)
    .where(and(inArray(e.sequence, [...keys]), eq(e.type, "list.left")));
  // Most chunks have none.
  if (rows.length === 0) return new Set();
  const starts = await loadStarts(q, before);
  return new Set(rows.flatMap(({ key, workspaceId, at }) => (at >= (starts.get(workspaceId) ?? Number.POSITIVE_INFINITY) ? key : [])));
}

/** Loads, for each workspace with waiting campaign mail, the start of its earliest such campaign, ms. */
async function loadStarts(q: Tx | Reader, before: number): Promise<Map<string, number>> {
  const { campaigns: c, emails: e } = q.t;
  const waiting = q
    .select({ id: e.id })
    .from(e)
    .where(and(OF_CAMPAIGN, eq(e.campaignId, c.id), inArray(e.status, OPEN)));
  const rows = await q
    .select({ workspaceId: c.workspaceId, start: min(c.startedAt) })
    .from(c)
    .where(
      and(
        isNotNull(c.startedAt),
        or(inArray(c.status, ["SENDING", "PAUSED"]), and(eq(c.status, "SENT"), gte(c.completedAt, before - RETRIED_MS), exists(waiting))),
      ),
    )
    .groupBy(c.workspaceId);
  return new Map(rows.flatMap(({ workspaceId, start }) => (start === null ? [] : [[workspaceId, Number(start)] as const])));
}
