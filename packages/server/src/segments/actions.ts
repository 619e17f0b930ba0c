import {
  durationMs,
  type EventCondition,
  propertyName,
  type RuleOperator,
  type SegmentCondition,
  type SegmentRule,
} from "@mailsvc/sdk/contract";
import { and, eq, exists, gte, lte, type SQL, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { decide, listConditions, toCountKey } from "./evaluate.ts";
import { compileFreeValue, compileTree } from "./free-values.ts";

/** Context of counting. */
interface Context {
  readonly q: Tx | Reader;
  /** The instant (ms) at which windows end. */
  readonly now: number;
}

const COMPARE: Readonly<Partial<Record<RuleOperator, (times: SQL, wanted: number) => SQL>>> = {
  equals: (times, wanted) => sql`${times} = ${wanted}`,
  gt: (times, wanted) => sql`${times} > ${wanted}`,
  gte: (times, wanted) => sql`${times} >= ${wanted}`,
  lt: (times, wanted) => sql`${times} < ${wanted}`,
  lte: (times, wanted) => sql`${times} <= ${wanted}`,
};

/** A condition on what contacts did, in SQL on `contacts`. `matches` decides by the times that `loadCounts` reads. */
export function compileCount(context: Context, condition: SegmentCondition): SQL {
  const { q } = context;
  const { contactActions: a, contacts: c } = q.t;
  const ofContact = and(eq(a.contactSeq, c.seq), isCounted(context, condition));
  const wanted = Number(condition.value);
  const atLeast =
    condition.operator === "exists" ? 1 : condition.operator === "gte" ? wanted : condition.operator === "gt" ? wanted + 1 : 0;
  // The first one is enough.
  if (atLeast === 1) return exists(q.select({ one: sql`1` }).from(a).where(ofContact));
  const times = sql`(${q.select({ n: sql`count(*)` }).from(a).where(ofContact)})`;
  return decide(COMPARE, condition.operator)(times, wanted);
}

/** The times of somebody who did nothing that the conditions of rules count, by `toCountKey`. */
export function countNothing(rules: readonly SegmentRule[]): ReadonlyMap<string, number> {
  return new Map([...listCounted(rules).keys()].map((key) => [key, 0]));
}

function listCounted(rules: readonly SegmentRule[]): ReadonlyMap<string, SegmentCondition> {
  const counted = rules.flatMap(listConditions).map((condition) => [toCountKey(condition), condition] as const);
  return new Map(counted.flatMap(([key, condition]) => (key === null ? [] : [[key, condition] as const])));
}

/** The times that contacts did what the conditions of rules count, by contact and `toCountKey`; a thousand contacts at most. */
export async function loadCounts(
  { q, now }: Context,
  seqs: readonly number[],
  rules: readonly SegmentRule[],
): Promise<(seq: number) => ReadonlyMap<string, number>> {
  const none = countNothing(rules);
  const counts = new Map<number, Map<string, number>>();
  const { contactActions: a } = q.t;
  for (const [key, condition] of listCounted(rules)) {
    const rows = await q
      .select({ seq: a.contactSeq, n: sql<number>`count(*)`.mapWith(Number) })
      .from(a)
      .where(and(q.sqlDialect.amongNumbers(a.contactSeq, sql`${JSON.stringify(seqs)}`), isCounted({ q, now }, condition)))
      .groupBy(a.contactSeq);
    for (const { seq, n } of rows) {
      const own = counts.get(seq) ?? new Map(none);
      counts.set(seq, own.set(key, n));
    }
  }
  return (seq) => counts.get(seq) ?? none;
}

/** The condition that an action is one of those that a condition counts. */
function isCounted(context: Context, { field, within, campaign, template, where }: SegmentCondition): SQL | undefined {
  const { q, now } = context;
  const { contactActions: a, events: e } = q.t;
  const passes = (condition: EventCondition): SQL => compileFact(context, condition);
  return and(
    eq(a.action, field),
    within === undefined ? undefined : and(gte(a.at, now - durationMs(within)), lte(a.at, now)),
    campaign === undefined ? undefined : eq(a.campaignId, campaign),
    template === undefined ? undefined : eq(a.template, template),
    where === undefined
      ? undefined
      : exists(
          q
            .select({ one: sql`1` })
            .from(e)
            .where(and(eq(e.sequence, a.eventKey), compileTree(q, where, passes))),
        ),
  );
}

function compileFact(context: Context, { field, operator, value }: EventCondition): SQL {
  const { data } = context.q.t.events;
  const property = propertyName(field);
  return property === null
    ? compileFreeValue(context, data, field, operator, value)
    : compileFreeValue(context, context.q.sqlDialect.jsonObject(data, "properties"), property, operator, value);
}
