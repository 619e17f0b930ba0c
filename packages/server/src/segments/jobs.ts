import { and, asc, eq, gt, isNull, lte } from "drizzle-orm";
import { findRows } from "../db/find.ts";
import { HOUR } from "../lib/units.ts";
import { clearMembers } from "../memberships/memberships.ts";
import type { JobHandler } from "../queue/queue.ts";
import { compileRule } from "./compile.ts";
import type { SegmentDeps } from "./deps.ts";
import { type SegmentRow, updateMembership } from "./membership.ts";
import { buildRuleContext } from "./query.ts";
import { pickSegmentTables, REBUILD_JOB, SECOND_ROUND_MS } from "./segments.ts";
import { findWindowEnd, toWindow } from "./selection.ts";

// Membership changes in one transaction: 20 ms of work. With 250 a contact costs half more.
const CHUNK = 1000;
// Rules that depend on time mostly count in days, so events of entering and leaving may be an hour late. Reads evaluate the rules
// and are never late.
const TIMED_INTERVAL_MS = HOUR;

interface Rebuild {
  workspaceId: string;
  segmentId: string;
  version: number;
  /** The `seq` of the last contact compared. */
  after: number;
  round: number;
}

/**
 * Compares all contacts with the rules of a segment, in chunks ordered by `seq`. The job's payload holds the position, so that a
 * rebuild continues after a crash. A query outside the transaction finds the contacts that may enter or leave, and the
 * transaction evaluates each of them again.
 *
 * | state    | trigger                                | next     |
 * | -------- | -------------------------------------- | -------- |
 * | BUILDING | a chunk is done                        | BUILDING |
 * | BUILDING | all contacts are done                  | READY    |
 * | READY    | second round, one minute later         | READY    |
 * | READY    | every hour, for rules that depend on time | READY |
 * | any      | the rules change (a new version)       | BUILDING, by a new job; this one ends |
 * | any      | the segment is deleted                 | this job ends |
 */
export function rebuildSegment(deps: SegmentDeps): JobHandler {
  return async ({ payload }) => {
    const rebuild = payload as unknown as Rebuild;
    const { read } = deps.db;
    const segment = await findSegmentVersion(deps, rebuild);
    if (!segment) return {};
    const { contacts: c, segmentMembers: m } = read.t;
    const context = await buildRuleContext(read, deps, segment.workspaceId);
    const end = await findWindowEnd(read, segment.workspaceId, rebuild.after);
    const window = end === null ? undefined : toWindow(read, rebuild.after, end);
    const matching = compileRule({ ...context, window }, segment.rules);
    const ofMember = and(eq(m.segmentSeq, segment.seq), eq(m.contactSeq, c.seq));
    const ofWorkspace = eq(c.workspaceId, segment.workspaceId);
    const inWindow = (seq: typeof c.seq | typeof m.contactSeq) => and(gt(seq, rebuild.after), end === null ? undefined : lte(seq, end));
    // Two queries: for a condition of both Postgres reads the whole table of a rule, such as that of tags, for each chunk.
    const [entering, leaving] = await Promise.all([
      read
        .select({ seq: c.seq })
        .from(c)
        .leftJoin(m, ofMember)
        .where(and(ofWorkspace, inWindow(c.seq), isNull(m.contactSeq), matching))
        .orderBy(asc(c.seq))
        .limit(CHUNK),
      read
        .select({ seq: m.contactSeq })
        .from(m)
        .innerJoin(c, ofMember)
        .where(and(eq(m.segmentSeq, segment.seq), inWindow(m.contactSeq), ofWorkspace, read.sqlDialect.notTrue(matching)))
        .orderBy(asc(m.contactSeq))
        .limit(CHUNK),
    ]);
    const changed = [...entering, ...leaving].map(({ seq }) => seq).sort((one, other) => one - other);
    const seqs = [...new Set(changed)].slice(0, CHUNK);
    const after = seqs.length === CHUNK ? (seqs.at(-1) as number) : end;
    const cause = segment.state === "BUILDING" ? "rules" : "time";
    return {
      commit: async (tx) => {
        if (seqs.length > 0) {
          // Read again: the rules may have changed since.
          const [now] = await tx
            .select()
            .from(tx.t.segments)
            .where(and(eq(tx.t.segments.seq, segment.seq), eq(tx.t.segments.version, rebuild.version), isNull(tx.t.segments.deletedAt)));
          if (!now) return;
          await updateMembership(tx, deps, segment.workspaceId, [now], seqs, cause);
        }
        if (after !== null) {
          await deps.queue.enqueue(tx, { kind: REBUILD_JOB, payload: { ...rebuild, after } });
          return;
        }
        if (segment.state === "BUILDING")
          await tx
            .update(tx.t.segments)
            .set({ state: "READY" })
            .where(and(eq(tx.t.segments.seq, segment.seq), eq(tx.t.segments.version, rebuild.version)));
        const wait = rebuild.round === 1 ? SECOND_ROUND_MS : segment.timed ? TIMED_INTERVAL_MS : null;
        if (wait !== null)
          await deps.queue.enqueue(tx, {
            kind: REBUILD_JOB,
            payload: { ...rebuild, after: 0, round: rebuild.round + 1 },
            runAt: deps.clock.now() + wait,
          });
      },
    };
  };
}

/** Deletes the members of a deleted segment. */
export function clearSegment(deps: SegmentDeps): JobHandler {
  return clearMembers(deps, pickSegmentTables, () => Promise.resolve());
}

async function findSegmentVersion({ db }: SegmentDeps, { workspaceId, segmentId, version }: Rebuild): Promise<SegmentRow | null> {
  const [row] = await findRows(db.read, db.read.t.segments, { workspaceId, id: segmentId });
  return row?.version === version && row.deletedAt === null ? row : null;
}
