import { durationMs, findNegated, instantMs, type RuleOperator, type SegmentCondition } from "@mailsvc/sdk/contract";
import { and, eq, gt, gte, inArray, lt, lte, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import type { SqlDialect } from "../db/dialect.ts";
import { type DecidedOperator, decide, formatDateText, type Tree } from "./evaluate.ts";

/** Context of values in SQL. */
interface Context {
  readonly q: Tx | Reader;
  /** The instant (ms) that durations count from. */
  readonly now: number;
}

type Value = SegmentCondition["value"];

/** A tree of rules in SQL, given its conditions: true, false or null each. */
export function compileTree<Condition extends object>(q: Tx | Reader, rule: Tree<Condition>, compile: (condition: Condition) => SQL): SQL {
  if ("all" in rule) return and(...(rule.all as Tree<Condition>[]).map((r) => compileTree(q, r, compile))) as SQL;
  if ("any" in rule) return or(...(rule.any as Tree<Condition>[]).map((r) => compileTree(q, r, compile))) as SQL;
  if ("not" in rule) return q.sqlDialect.notTrue(compileTree(q, rule.not as Tree<Condition>, compile));
  return compile(rule as Condition);
}

/** A condition in SQL on the value that a JSON object has under a name. `matchesFreeValue` in `evaluate.ts` decides the same. */
export function compileFreeValue(context: Context, object: SQLWrapper, name: string, operator: RuleOperator, value: Value): SQL {
  const { notTrue } = context.q.sqlDialect;
  const negated = findNegated(operator);
  if (negated) return notTrue(compileFreeValue(context, object, name, negated, value));
  if (operator === "exists" && value === false) return notTrue(compileFreeValue(context, object, name, operator, undefined));
  return decide(ON_CUSTOM, operator)(context, object, name, value);
}

export function toArray(value: Value): (string | number)[] {
  return [value].flat() as (string | number)[];
}

/** A text in SQL, and the forms of the values, any of which may match. */
type CompareText = (dialect: SqlDialect, have: SQLWrapper, forms: readonly SQLWrapper[]) => SQL;

const isOneOf: CompareText = (_, have, forms) => sql`${have} in (${sql.join([...forms], sql`, `)})`;

export const ON_TEXT: Readonly<Record<DecidedOperator<"text">, CompareText>> = {
  exists: (_, have) => sql`${have} is not null`,
  equals: isOneOf,
  in: isOneOf,
  contains: (dialect, have, forms) => or(...forms.map((form) => dialect.holds(have, form))) as SQL,
  startsWith: (dialect, have, forms) => or(...forms.map((form) => dialect.starts(have, form))) as SQL,
  endsWith: (dialect, have, forms) => or(...forms.map((form) => dialect.ends(have, form))) as SQL,
};

export function compileText({ q: { sqlDialect } }: Context, text: SQLWrapper, operator: RuleOperator, value: Value): SQL {
  if (operator === "exists") return sql`${text} is not null`;
  const forms = toArray(value).map((v) => sqlDialect.fold(sqlDialect.text(String(v))));
  return decide(ON_TEXT, operator)(sqlDialect, sqlDialect.fold(text), forms);
}

/** A column of instants, the value, and what turns an instant (ms) into what the column holds. */
type CompareTime = (column: SQLWrapper, value: Value, now: number, at: (ms: number) => string | number) => SQL;

export const ON_TIME: Readonly<Record<DecidedOperator<"instant"> | "withinNext", CompareTime>> = {
  exists: (column) => sql`${column} is not null`,
  before: (column, value, _, at) => sql`${column} < ${at(instantMs(String(value)))}`,
  after: (column, value, _, at) => sql`${column} > ${at(instantMs(String(value)))}`,
  withinLast: (column, value, now, at) => sql`${column} between ${at(now - durationMs(String(value)))} and ${at(now)}`,
  withinNext: (column, value, now, at) => sql`(${column} > ${at(now)} and ${column} <= ${at(now + durationMs(String(value)))})`,
};

/** A condition on the value that a JSON object has under a name. */
type CompareFree = (context: Context, object: SQLWrapper, name: string, value: Value) => SQL;

const ofText =
  (operator: DecidedOperator<"text">): CompareFree =>
  (context, object, name, value) =>
    compileText(context, context.q.sqlDialect.jsonText(object, name), operator, value);

const ofNumber =
  (compare: (have: SQL, wanted: Value) => SQL): CompareFree =>
  ({ q }, object, name, value) =>
    compare(q.sqlDialect.jsonNumber(object, name), value);

const ofDate =
  (operator: keyof typeof ON_TIME): CompareFree =>
  ({ q: { sqlDialect }, now }, object, name, value) => {
    return ON_TIME[operator](sqlDialect.dateText(sqlDialect.jsonText(object, name)), value, now, formatDateText);
  };

const ON_CUSTOM: Readonly<Record<DecidedOperator<"custom">, CompareFree>> = {
  exists: ({ q }, object, name) => q.sqlDialect.jsonHas(object, name),
  equals: (context, object, name, value) => {
    const { sqlDialect } = context.q;
    if (typeof value === "number") return ofNumber(eq)(context, object, name, value);
    if (typeof value !== "boolean") return ofText("equals")(context, object, name, value);
    const flag = sqlDialect.jsonFlag(object, name);
    return value ? sql`(${flag}) is true` : sql`(${flag}) is false`;
  },
  in: (context, object, name, value) => {
    const texts = toArray(value).filter((v) => typeof v === "string");
    const numbers = toArray(value).filter((v) => typeof v === "number");
    return or(
      texts.length > 0 ? ofText("in")(context, object, name, texts) : undefined,
      numbers.length > 0 ? ofNumber((have) => inArray(have, numbers))(context, object, name, value) : undefined,
    ) as SQL;
  },
  contains: ofText("contains"),
  startsWith: ofText("startsWith"),
  endsWith: ofText("endsWith"),
  before: ofDate("before"),
  after: ofDate("after"),
  withinLast: ofDate("withinLast"),
  withinNext: ofDate("withinNext"),
  gt: ofNumber(gt),
  gte: ofNumber(gte),
  lt: ofNumber(lt),
  lte: ofNumber(lte),
};
