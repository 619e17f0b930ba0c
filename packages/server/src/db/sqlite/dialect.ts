import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { fold } from "../../lib/fold.ts";
import type { SqlDialect } from "../dialect.ts";

/** The name of the function that folds texts; SQLite's own `upper` knows ASCII only. */
export const FOLD = "mailsvc_fold";

/** What stands behind it. */
export function foldText(text: unknown): unknown {
  return typeof text === "string" ? fold(text) : text;
}

const DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]";
const TIME = "T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]";

export const sqliteDialect: SqlDialect = {
  // Leaving SQL for JavaScript costs a microsecond; most texts are ASCII and need not.
  fold: (text) => sql`case when ${text} glob '*[^ -~]*' then ${sql.raw(FOLD)}(${text}) else upper(${text}) end`,
  text: bound,
  holds: (text, part) => sql`instr(${text}, ${bound(part)}) > 0`,
  starts: (text, part) => sql`substr(${text}, 1, length(${bound(part)})) = ${bound(part)}`,
  startsKey: (column, part) => sql`(${column} >= ${part} and ${column} < ${`${part}\u{10ffff}`})`,
  ends: (text, part) => sql`substr(${text}, -length(${bound(part)})) = ${bound(part)}`,
  jsonText: (object, key) => sql`case when json_type(${object}, ${path(key)}) = 'text' then json_extract(${object}, ${path(key)}) end`,
  jsonNumber: (object, key) =>
    sql`case when json_type(${object}, ${path(key)}) in ('integer', 'real') then cast(json_extract(${object}, ${path(key)}) as real) end`,
  jsonFlag: (object, key) => sql`case json_type(${object}, ${path(key)}) when 'true' then true when 'false' then false end`,
  jsonHas: (object, key) => sql`json_type(${object}, ${path(key)}) <> 'null'`,
  // strftime carries 2026-02-30 over into March, so a date exists if it comes back unchanged.
  dateText: (text) =>
    sql`case when ${text} glob ${DAY} and strftime('%Y-%m-%d', ${text}) = ${text} then ${text} || 'T00:00:00.000Z' when (${text} glob ${`${DAY}${TIME}Z`} or ${text} glob ${`${DAY}${TIME}.[0-9][0-9][0-9]Z`}) and strftime('%Y-%m-%dT%H:%M:%S', substr(${text}, 1, 19)) = substr(${text}, 1, 19) then substr(${text}, 1, 19) || case when length(${text}) = 20 then '.000Z' else substr(${text}, 20) end end`,
  among: (text, list) => sql`${text} in (select value from json_each(${list}))`,
  notTrue: (expression) => sql`(${expression}) is not true`,
  passingLocked: (query) => query,
};

// Keys come without quotes and backslashes (the contract sees to it), so a quoted one stands for itself.
function path(key: string): SQL {
  return sql`${`$."${key}"`}`;
}

function bound(part: SQLWrapper | string): SQLWrapper {
  return typeof part === "string" ? sql`${part}` : part;
}
