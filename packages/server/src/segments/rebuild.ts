import { inArray } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { holdReader, listLog, type RebuildPart } from "../events/events.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import type { SegmentDeps } from "./deps.ts";
import { ENGAGEMENT, findPeople, isOfPerson, storeEngagements } from "./engagement.ts";
import { rebuildSegments } from "./segments.ts";

/**
 * Records anew what contacts did by the next events, and returns the number of the last one. After the last event it compares all contacts
 * with the rules of the segments, and returns null.
 */
export async function rebuildEngagement(
  tx: Tx,
  deps: SegmentDeps,
  workspaceId: string,
  { from, after }: RebuildPart,
): Promise<number | null> {
  const last = await holdReader(tx, ENGAGEMENT.name, workspaceId);
  const events = await listLog(tx, workspaceId, { after, last }, ENGAGEMENT);
  const reached = events.at(-1)?.position;
  if (reached === undefined) {
    await rebuildSegments(tx, deps, workspaceId);
    return null;
  }
  const meant = events.filter(({ at }) => from === null || at >= from);
  const { contactActions: a } = tx.t;
  for (const keys of splitIntoChunks(meant.map(({ sequence }) => sequence))) await tx.delete(a).where(inArray(a.eventKey, keys));
  const own = meant.filter(isOfPerson);
  if (own.length > 0) await storeEngagements(tx, workspaceId, await findPeople(tx, workspaceId, own));
  return reached;
}
