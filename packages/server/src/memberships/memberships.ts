import type { Page } from "@mailsvc/sdk/contract";
import { and, asc, eq, inArray, isNull } from "drizzle-orm";
import { deleteCounters, getCounters, incrementCounters } from "../counters/counters.ts";
import type { Db, Reader, Schema, Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { Clock } from "../lib/clock.ts";
import type { ListTables } from "../lists/tables.ts";
import type { JobHandler, Queue } from "../queue/queue.ts";
import type { SegmentTables } from "../segments/tables.ts";

/** The tables of lists, or those of segments: groups that have contacts as members. */
interface GroupTables {
  groups: ListTables["lists"] | SegmentTables["segments"];
  members: ListTables["listMembers"] | SegmentTables["segmentMembers"];
  /** The column of `members` with the `seq` of the group. */
  groupSeq: ListTables["listMembers"]["listSeq"] | SegmentTables["segmentMembers"]["segmentSeq"];
}

/** The payload of a job that deletes the members of a deleted group. */
interface ClearPayload {
  workspaceId: string;
  groupId: string;
  seq: number;
}

// Members deleted in one transaction.
const CHUNK = 500;

/**
 * A job that deletes the members of a deleted group in chunks, and then its counters. `onRemoved` runs in the transaction of
 * each chunk.
 */
export function clearMembers(
  deps: MembershipDeps,
  pick: (t: Schema) => GroupTables,
  onRemoved: (tx: Tx, workspaceId: string, contactSeqs: readonly number[]) => Promise<void>,
): JobHandler {
  return async ({ payload }) => {
    const { workspaceId, groupId, seq } = payload as unknown as ClearPayload;
    const { members, groupSeq } = pick(deps.db.read.t);
    const rows = await deps.db.read
      .select({ seq: members.contactSeq })
      .from(members)
      .where(eq(groupSeq, seq))
      .orderBy(asc(members.contactSeq))
      .limit(CHUNK);
    const seqs = rows.map((row) => row.seq);
    return {
      ...(seqs.length === CHUNK && { again: deps.clock.now() }),
      commit: async (tx) => {
        if (seqs.length > 0) await tx.delete(members).where(and(eq(groupSeq, seq), inArray(members.contactSeq, seqs)));
        if (seqs.length < CHUNK) await deleteCounters(tx, groupId);
        await onRemoved(tx, workspaceId, seqs);
      },
    };
  };
}

/** Removes a deleted contact from all groups, and from their counters. */
export async function removeContactFromGroups(tx: Tx, contactSeq: number, pick: (t: Schema) => GroupTables): Promise<void> {
  const { groups, members, groupSeq } = pick(tx.t);
  const rows = await tx
    .select({ groupId: groups.id, member: members })
    .from(members)
    .innerJoin(groups, eq(groups.seq, groupSeq))
    .where(eq(members.contactSeq, contactSeq));
  if (rows.length === 0) return;
  await tx.delete(members).where(eq(members.contactSeq, contactSeq));
  for (const { groupId, member } of rows)
    await incrementCounters(tx, groupId, [{ kind: "status" in member ? member.status : "MEMBER", seq: contactSeq, by: -1 }]);
}

/** A page of the groups of a workspace, newest first. `show` gets the numbers of members of a group, by their kind. */
export async function listGroups<Groups extends GroupTables["groups"], Item>(
  read: Reader,
  groups: Groups,
  workspaceId: string,
  input: PageInput & { search?: string | undefined },
  show: (row: Groups["$inferSelect"], counts: ReadonlyMap<string, number> | undefined) => Item,
): Promise<Page<Item>> {
  const where = and(
    eq(groups.workspaceId, workspaceId),
    isNull(groups.deletedAt),
    input.search === undefined ? undefined : contains(read.sqlDialect, groups.name, input.search),
  );
  const page = await listPage(read, input, { table: groups, where, toItem: (row: Groups["$inferSelect"]) => row });
  const counts = await getCounters(
    read,
    page.data.map((row) => row.id),
  );
  return { ...page, data: page.data.map((row) => show(row, counts.get(row.id))) };
}

/** Deletes a group at once; the job of a `kind` deletes its members. */
export async function deleteGroup(
  tx: Tx,
  { clock, queue }: Pick<MembershipDeps, "clock"> & { readonly queue: Pick<Queue, "enqueue"> },
  groups: GroupTables["groups"],
  { workspaceId, id, seq }: { readonly workspaceId: string; readonly id: string; readonly seq: number },
  kind: string,
): Promise<void> {
  await tx.update(groups).set({ deletedAt: clock.now() }).where(eq(groups.seq, seq));
  const payload: ClearPayload = { workspaceId, groupId: id, seq };
  await queue.enqueue(tx, { kind, payload: { ...payload } });
}

export interface MembershipDeps {
  readonly clock: Clock;
  readonly db: Db;
}
