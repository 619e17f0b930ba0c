import { and, eq, gte, inArray } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { CampaignRow } from "./campaigns.ts";
import { isList } from "./groups.ts";

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
