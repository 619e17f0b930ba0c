import { and, eq, exists, gte, inArray, isNotNull, lt, min, or } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { OF_CAMPAIGN, OPEN } from "../emails/emails.ts";
import { DAY } from "../lib/units.ts";

/*
 * Campaigns know by `list.left` who left their lists since they started (campaigns/groups.ts). So these events stay, however old, while
 * mail of a campaign that started before them waits: the campaign is SENDING or PAUSED, or it is SENT and some of its mail is tried again.
 */

// Mail is tried again for two days.
const RETRIED_MS = 4 * DAY;

// More than these stay where they are: keeping them apart from a month that is dropped would take long.
const MOST = 10_000;

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

/** Returns the keys below one that must stay; null if there are too many. */
export async function listNeededDeparturesBelow(read: Reader, to: number, before: number): Promise<number[] | null> {
  const { events: e } = read.t;
  const keys: number[] = [];
  for (const [workspaceId, start] of await loadStarts(read, before)) {
    const rows = await read
      .select({ key: e.sequence })
      .from(e)
      .where(and(eq(e.workspaceId, workspaceId), eq(e.type, "list.left"), gte(e.at, start), lt(e.sequence, to)))
      .limit(MOST + 1);
    for (const { key } of rows) keys.push(key);
    if (keys.length > MOST) return null;
  }
  return keys;
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
