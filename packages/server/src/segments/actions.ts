import {
  durationMs,
  type EventCondition,
  type EventFilter,
  type EventType,
  propertyName,
  type RuleField,
  type RuleOperator,
  type SegmentCondition,
  type SegmentRule,
} from "@mailsvc/sdk/contract";
import { and, eq, gt, gte, inArray, lte, not, type SQL, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { finds } from "../db/dialect.ts";
import { countUpTo, ONE } from "../db/pagination.ts";
import { decide, listConditions, toCountKey } from "./evaluate.ts";
import { compileFreeValue, compileTree } from "./free-values.ts";

/** The events of mail that are actions of its recipient, by the field of rules that counts them. */
export const MAIL_ACTIONS = {
  "email.sent": "received",
  "email.opened": "opened",
  "email.clicked": "clicked",
} as const satisfies Partial<Record<EventType, RuleField>>;

/** Contacts whose `seq`s lie close together: above `after`, up to `last`. */
export interface SeqWindow {
  readonly after: number;
  readonly last: number;
}

/** Context of counting. */
interface Context {
  readonly q: Tx | Reader;
  readonly workspaceId: string;
  /** The instant (ms) at which windows end. */
  readonly now: number;
  readonly window?: SeqWindow | undefined;
}

const COMPARE: Readonly<Partial<Record<RuleOperator, (have: SQL, wanted: number) => SQL>>> = {
  equals: (have, wanted) => sql`${have} = ${wanted}`,
  gt: (have, wanted) => sql`${have} > ${wanted}`,
  gte: (have, wanted) => sql`${have} >= ${wanted}`,
  lt: (have, wanted) => sql`${have} < ${wanted}`,
  lte: (have, wanted) => sql`${have} <= ${wanted}`,
};

/** A condition on what contacts did, in SQL on `contacts`. `matches` decides by the times that `loadCounts` reads. */
export function compileCount(context: Context, condition: SegmentCondition): SQL {
  const { q, window } = context;
  const { contactActions: a, contacts: c } = q.t;
  const counted = isCounted(context, condition);
  const own = q
    .select({ one: sql`1` })
    .from(a)
    .where(and(eq(a.contactSeq, c.seq), counted));
  const wanted = Number(condition.value);
  const atLeast = (n: number): SQL => {
    if (n <= 0) return sql`1 = 1`;
    if (window === undefined || !isCountedByIndex(context, condition)) return finds(own, n);
    const doers = q
      .select({ seq: a.contactSeq })
      .from(a)
      .where(and(gt(a.contactSeq, window.after), lte(a.contactSeq, window.last), counted))
      .groupBy(a.contactSeq);
    return inArray(c.seq, n === 1 ? doers : doers.having(gte(sql`count(*)`, n)));
  };
  return decide(ON_TIMES, condition.operator)(atLeast, wanted) as SQL;
}

/** Operators on times, by the condition that something was done so many times at least: no more of them are looked at. */
const ON_TIMES: Readonly<Partial<Record<RuleOperator, (atLeast: (n: number) => SQL, wanted: number) => SQL | undefined>>> = {
  exists: (atLeast) => atLeast(1),
  equals: (atLeast, wanted) => and(atLeast(wanted), not(atLeast(wanted + 1))),
  gt: (atLeast, wanted) => atLeast(wanted + 1),
  gte: (atLeast, wanted) => atLeast(wanted),
  lt: (atLeast, wanted) => not(atLeast(wanted)),
  lte: (atLeast, wanted) => not(atLeast(wanted + 1)),
};

// Actions that are grouped by people, and those that an index looks through for them: some 100 ms each.
const FEW_ACTIONS = 100_000;
const MOST_EXAMINED = 2_000_000;
// Actions whose values are looked at to estimate how many are counted. A wrong estimate costs time only.
const SAMPLE = 20_000;

/** The contacts who did what a condition asks for, in SQL: the numbers of contacts, as `seq`. */
interface Doers {
  readonly from: SQL;
  readonly seq: SQL<number>;
}

/**
 * Finds the contacts who satisfy a condition by its actions, where these are few; null where they are many, or where the condition is also
 * about people who did nothing.
 */
export async function findDoers(context: Context, condition: SegmentCondition): Promise<Doers | null> {
  const { q } = context;
  const { contactActions: a, events: e } = q.t;
  const { operator, value } = condition;
  const wanted = Number(value);
  const requires =
    operator === "exists" ? value !== false : operator === "gt" ? wanted >= 0 : (operator === "gte" || operator === "equals") && wanted > 0;
  if (!requires) return null;
  const ofCampaign = inCampaign(context, condition);
  if (!(await isRare(context, condition, ofCampaign))) return null;
  const seq = sql<number>`${a.contactSeq}`.mapWith(Number).as("seq");
  const actions =
    ofCampaign === null
      ? q.select({ seq }).from(a).$dynamic()
      : q.select({ seq }).from(e).innerJoin(a, eq(a.eventKey, e.sequence)).$dynamic();
  const doers = actions
    .where(and(ofCampaign ?? undefined, isCounted(context, condition)))
    .groupBy(a.contactSeq)
    .having(operator === "exists" ? undefined : decide(COMPARE, operator)(sql`count(*)`, wanted));
  return { from: sql`(${doers}) as doers`, seq: sql<number>`doers.seq`.mapWith(Number) };
}

/** True if few actions are likely to be those that a condition counts. Reads nothing but an index. */
async function isRare(context: Context, condition: SegmentCondition, ofCampaign: SQL | null): Promise<boolean> {
  const { q } = context;
  const { contactActions: a, events: e } = q.t;
  if (ofCampaign !== null) return (await countUpTo(q, q.select(ONE).from(e).where(ofCampaign), FEW_ACTIONS + 1)) <= FEW_ACTIONS;
  const inWindow = isCounted(context, { field: condition.field, operator: condition.operator, within: condition.within });
  if ((await countUpTo(q, q.select(ONE).from(a).where(inWindow), FEW_ACTIONS + 1)) <= FEW_ACTIONS) return true;
  const worth = condition.where === undefined ? null : compileWorth(context, condition.where);
  if (worth === null) return false;
  const sample = q
    .select({ counts: sql<number>`case when ${worth} then 1 else 0 end`.as("counts") })
    .from(a)
    .where(inWindow)
    .limit(SAMPLE)
    .as("sample");
  const [found] = await q.select({ counted: sql<number>`coalesce(sum(${sample.counts}), 0)`.mapWith(Number) }).from(sample);
  const most = Math.min(MOST_EXAMINED, Math.floor((FEW_ACTIONS * SAMPLE) / Math.max(1, found?.counted ?? 0)));
  return (await countUpTo(q, q.select(ONE).from(a).where(inWindow), most + 1)) <= most;
}

/** The condition on events by which an index finds what people did with the mail of a campaign; null without a campaign. */
function inCampaign({ q, workspaceId }: Context, { field, campaign }: SegmentCondition): SQL | null {
  const { events: e } = q.t;
  const type = Object.entries(MAIL_ACTIONS).find(([, action]) => action === field)?.[0];
  if (campaign === undefined || type === undefined) return null;
  return and(eq(e.workspaceId, workspaceId), eq(e.campaignId, campaign), eq(e.type, type as EventType)) ?? null;
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
  context: Context,
  seqs: readonly number[],
  rules: readonly SegmentRule[],
): Promise<(seq: number) => ReadonlyMap<string, number>> {
  const { q } = context;
  const none = countNothing(rules);
  const counts = new Map<number, Map<string, number>>();
  const { contactActions: a } = q.t;
  for (const [key, condition] of listCounted(rules)) {
    const rows = await q
      .select({ seq: a.contactSeq, n: sql<number>`count(*)`.mapWith(Number) })
      .from(a)
      .where(and(q.sqlDialect.amongNumbers(a.contactSeq, sql`${JSON.stringify(seqs)}`), isCounted(context, condition)))
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
  const { q, now, workspaceId } = context;
  const { contactActions: a, contactActionKinds: k } = q.t;
  const kind = q
    .select({ seq: k.seq })
    .from(k)
    .where(and(eq(k.workspaceId, workspaceId), eq(k.action, field)));
  return and(
    sql`${a.kind} = (${kind})`,
    within === undefined ? undefined : and(gte(a.at, now - durationMs(within)), lte(a.at, now)),
    campaign === undefined ? undefined : eq(a.campaignId, campaign),
    template === undefined ? undefined : eq(a.template, template),
    where === undefined ? undefined : compileFacts(context, where),
  );
}

/** True if the index of a contact's actions has all that decides if one counts: nothing else is read. */
function isCountedByIndex(context: Context, { campaign, template, where }: SegmentCondition): boolean {
  return campaign === undefined && template === undefined && (where === undefined || isAboutValue(context, where));
}

function isAboutValue(context: Context, where: EventFilter): boolean {
  return "all" in where ? where.all.every((one) => isAboutValue(context, one)) : compileWorth(context, where) !== null;
}

/** A condition on the event of an action. Its value is beside the action; for anything else the event is read. */
function compileFacts(context: Context, where: EventFilter): SQL | undefined {
  const { q } = context;
  const { contactActions: a, events: e } = q.t;
  if ("all" in where) return and(...where.all.map((one) => compileFacts(context, one)));
  const worth = compileWorth(context, where);
  if (worth !== null) return worth;
  const passes = (condition: EventCondition): SQL => compileFact(context, condition);
  return finds(
    q
      .select({ one: sql`1` })
      .from(e)
      .where(and(eq(e.sequence, a.eventKey), compileTree(q, where, passes))),
  );
}

/** The part of a condition on events that is about their value alone; null without one. */
function compileWorth(context: Context, where: EventFilter): SQL | null {
  if ("all" in where) return and(...where.all.map((one) => compileWorth(context, one) ?? undefined)) ?? null;
  if (!("field" in where)) return null;
  const { field, operator, value } = where;
  const compare = field === "value" && typeof value === "number" ? COMPARE[operator] : undefined;
  return compare?.(sql`${context.q.t.contactActions.value}`, value as number) ?? null;
}

function compileFact(context: Context, { field, operator, value }: EventCondition): SQL {
  const { data } = context.q.t.events;
  const property = propertyName(field);
  return property === null
    ? compileFreeValue(context, data, field, operator, value)
    : compileFreeValue(context, context.q.sqlDialect.jsonObject(data, "properties"), property, operator, value);
}
