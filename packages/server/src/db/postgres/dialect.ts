import { DATE_PATTERN, HOUR_PATTERN } from "@mailsvc/sdk/contract";
import { type SQLWrapper, sql } from "drizzle-orm";
import type { SqlDialect } from "../dialect.ts";

interface Lockable<Q> {
  for(strength: "update", options?: { skipLocked: true }): Q;
}

const DATE = `^${DATE_PATTERN}$`;
const SECOND = `^${DATE_PATTERN}T${HOUR_PATTERN}:[0-5][0-9]Z$`;
const MILLISECOND = `^${DATE_PATTERN}T${HOUR_PATTERN}:[0-5][0-9][.][0-9]{3}Z$`;

// Parameters have explicit types, because the planner cannot infer them.
export const postgresDialect: SqlDialect = {
  // The root collation of Unicode, independent of the locale the database was created with.
  fold: (text) => sql`upper(lower(normalize(${text}, NFC) collate "und-x-icu"))`,
  text: bindText,
  holds: (text, part) => sql`strpos(${text}, ${bindText(part)}) > 0`,
  starts: (text, part) => sql`left(${text}, length(${bindText(part)})) = ${bindText(part)}`,
  // Not a range as on SQLite: the column is sorted in the order of a language.
  startsKey: (column, part) => sql`starts_with(${column}, ${part}::text)`,
  ends: (text, part) => sql`right(${text}, length(${bindText(part)})) = ${bindText(part)}`,
  jsonText: (object, key) => sql`case when json_typeof(${object} -> ${key}::text) = 'string' then ${object} ->> ${key}::text end`,
  jsonNumber: (object, key) =>
    sql`case when json_typeof(${object} -> ${key}::text) = 'number' then (${object} ->> ${key}::text)::double precision end`,
  jsonFlag: (object, key) =>
    sql`case when json_typeof(${object} -> ${key}::text) = 'boolean' then (${object} ->> ${key}::text)::boolean end`,
  jsonNames: (json, id) => sql`strpos(${json}::text, ${JSON.stringify(id)}::text) > 0`,
  jsonObject: (object, key) => sql`(${object} -> ${key}::text)`,
  jsonHas: (object, key) => sql`json_typeof(${object} -> ${key}::text) <> 'null'`,
  dateText: (text) =>
    sql`(case when ${text} ~ ${DATE}::text then ${text} || 'T00:00:00.000Z' when ${text} ~ ${SECOND}::text then left(${text}, 19) || '.000Z' when ${text} ~ ${MILLISECOND}::text then ${text} end) collate "C"`,
  among: (text, list) => sql`${text} in (select json_array_elements_text(${list}::json))`,
  amongNumbers: (number, list) => sql`${number} in (select json_array_elements_text(${list}::json)::bigint)`,
  // As an array, because for a join Postgres would rather read the whole table. Parts of a union could lock no rows.
  amongFound: (number, queries) =>
    sql`${number} = any(${sql.join(
      queries.map((query) => sql`array(${query})`),
      sql` || `,
    )})`,
  joinNumbers: (number) => sql`string_agg((${number})::text, ',')`,
  notTrue: (expression) => sql`(${expression}) is not true`,
  rarely: (condition) => sql`${condition}`,
  usually: (condition) => sql`${condition}`,
  singleWriter: false,
  concurrent: sql`true`,
  passingLocked: <Q>(query: Q): Q => (query as Lockable<Q>).for("update", { skipLocked: true }),
  awaitingLocked: <Q>(query: Q): Q => (query as Lockable<Q>).for("update"),
};

function bindText(part: SQLWrapper | string): SQLWrapper {
  return typeof part === "string" ? sql`${part}::text` : part;
}
