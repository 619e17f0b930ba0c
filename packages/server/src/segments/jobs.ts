import { and, asc, eq, gt, inArray, isNotNull, isNull, lte, or } from "drizzle-orm";
import { deleteCounters } from "../counters/counters.ts";
import type { Deps } from "../deps.ts";
import type { JobHandler } from "../queue/queue.ts";
import { compileRule } from "./compile.ts";
import { type SegmentRow, updateMembership } from "./membership.ts";
import { buildRuleContext, numberAfter } from "./query.ts";
import { SECOND_ROUND, WALK_JOB } from "./segments.ts";

// Contacts looked at by one query: some ms of reading.
const WINDOW = 5000;
// Contacts whose membership changes in one transaction.
const CHUNK = 250;
// Rules that depend on time count in days for the most part; an hour late is soon enough for who enters and leaves.
// Reads do not wait for it.
const EVERY = 3_600_000;

interface Walk {
  workspaceId: string;
  segmentId: string;
  version: number;
  /** The number of the contact it has got to. */
  after: number;
  round: number;
}

/**
 * Compares all contacts with the rules of a segment, in the order of their numbers and some at a time: where it has got to
 * stands in its job, so it goes on there after a crash. Those that may enter or leave are found by one query, outside any
 * transaction, and looked at again, each by itself, in the one that writes.
 */
export function walkSegment(deps: Deps): JobHandler {
  return async ({ payload }) => {
    const walk = payload as unknown as Walk;
    const { read } = deps.db;
    const segment = await segmentOf(deps, walk);
    if (!segment) return {};
    const { contacts: c, segmentMembers: m } = read.t;
    const context = await buildRuleContext(read, deps, segment.workspaceId);
    const fits = compileRule(context, segment.rules);
    const end = await numberAfter(read, segment.workspaceId, walk.after, WINDOW);
    const differ = await read
      .select({ seq: c.seq })
      .from(c)
      .leftJoin(m, and(eq(m.segmentSeq, segment.seq), eq(m.contactSeq, c.seq)))
      .where(
        and(
          eq(c.workspaceId, segment.workspaceId),
          gt(c.seq, walk.after),
          end === null ? undefined : lte(c.seq, end),
          or(and(isNull(m.contactSeq), fits), and(isNotNull(m.contactSeq), read.sqlDialect.notTrue(fits))),
        ),
      )
      .orderBy(asc(c.seq))
      .limit(CHUNK);
    const seqs = differ.map((row) => row.seq);
    const after = seqs.length === CHUNK ? (seqs.at(-1) as number) : end;
    const cause = segment.state === "BUILDING" ? "rules" : "time";
    return {
      commit: async (tx) => {
        if (seqs.length > 0) {
          // Read again: the rules may have changed meanwhile.
          const [now] = await tx
            .select()
            .from(tx.t.segments)
            .where(and(eq(tx.t.segments.seq, segment.seq), eq(tx.t.segments.version, walk.version), isNull(tx.t.segments.deletedAt)));
          if (!now) return;
          await updateMembership(tx, deps, segment.workspaceId, [now], seqs, cause);
        }
        if (after !== null) {
          await deps.queue.enqueue(tx, { kind: WALK_JOB, payload: { ...walk, after } });
          return;
        }
        if (segment.state === "BUILDING")
          await tx
            .update(tx.t.segments)
            .set({ state: "READY" })
            .where(and(eq(tx.t.segments.seq, segment.seq), eq(tx.t.segments.version, walk.version)));
        const wait = walk.round === 1 ? SECOND_ROUND : segment.timed ? EVERY : null;
        if (wait !== null)
          await deps.queue.enqueue(tx, {
            kind: WALK_JOB,
            payload: { ...walk, after: 0, round: walk.round + 1 },
            runAt: deps.clock.now() + wait,
          });
      },
    };
  };
}

// Members taken away in one transaction.
const CLEARED = 1000;

/** Takes the members of a deleted segment away, some at a time. */
export function clearSegment(deps: Deps): JobHandler {
  return async ({ payload }) => {
    const seq = Number(payload.seq);
    const { segmentMembers: t } = deps.db.read.t;
    const rows = await deps.db.read.select({ seq: t.contactSeq }).from(t).where(eq(t.segmentSeq, seq)).limit(CLEARED);
    const seqs = rows.map((row) => row.seq);
    return {
      ...(seqs.length === CLEARED && { again: deps.clock.now() }),
      commit: async (tx) => {
        if (seqs.length > 0) await tx.delete(t).where(and(eq(t.segmentSeq, seq), inArray(t.contactSeq, seqs)));
        if (seqs.length < CLEARED) await deleteCounters(tx, String(payload.segmentId));
      },
    };
  };
}

async function segmentOf({ db }: Deps, { workspaceId, segmentId, version }: Walk): Promise<SegmentRow | null> {
  const { segments: t } = db.read.t;
  const [row] = await db.read
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.id, segmentId), eq(t.version, version), isNull(t.deletedAt)));
  return row ?? null;
}
