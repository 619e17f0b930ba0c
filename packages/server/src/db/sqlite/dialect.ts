import { getTableName, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { fold } from "../../lib/fold.ts";
import type { Queries } from "../db.ts";
import type { SqlDialect } from "../dialect.ts";
import { rankTrigrams, type SearchedText, type SearchIndex } from "../search-index.ts";

/** The SQL function that folds texts; SQLite's own `upper` handles ASCII only. */
export const FOLD = "mailsvc_fold";

/** Implements the SQL function. */
export function foldText(text: unknown): unknown {
  return typeof text === "string" ? fold(text) : text;
}

const DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]";
const TIME = "T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]";

export const sqliteDialect: SqlDialect = {
  // A call from SQL into JavaScript costs a microsecond; ASCII texts, which most are, do not need it.
  fold: (text) => sql`case when ${text} glob '*[^ -~]*' then ${sql.raw(FOLD)}(${text}) else upper(${text}) end`,
  text: bindText,
  holds: (text, part) => sql`instr(${text}, ${bindText(part)}) > 0`,
  starts: (text, part) => sql`substr(${text}, 1, length(${bindText(part)})) = ${bindText(part)}`,
  startsKey: (column, part) => sql`(${column} >= ${part} and ${column} < ${`${part}\u{10ffff}`})`,
  ends: (text, part) => sql`substr(${text}, -length(${bindText(part)})) = ${bindText(part)}`,
  jsonText: (object, key) => sql`case when json_type(${object}, ${toPath(key)}) = 'text' then json_extract(${object}, ${toPath(key)}) end`,
  jsonNumber: (object, key) =>
    sql`case when json_type(${object}, ${toPath(key)}) in ('integer', 'real') then cast(json_extract(${object}, ${toPath(key)}) as real) end`,
  jsonFlag: (object, key) => sql`case json_type(${object}, ${toPath(key)}) when 'true' then true when 'false' then false end`,
  jsonNames: (json, id) => sql`instr(${json}, ${JSON.stringify(id)}) > 0`,
  jsonObject: (object, key) => sql`json_extract(${object}, ${toPath(key)})`,
  jsonHas: (object, key) => sql`json_type(${object}, ${toPath(key)}) <> 'null'`,
  // strftime carries 2026-02-30 over into March, so a date exists if it comes back unchanged.
  dateText: (text) =>
    sql`case when ${text} glob ${DAY} and strftime('%Y-%m-%d', ${text}) = ${text} then ${text} || 'T00:00:00.000Z' when (${text} glob ${`${DAY}${TIME}Z`} or ${text} glob ${`${DAY}${TIME}.[0-9][0-9][0-9]Z`}) and strftime('%Y-%m-%dT%H:%M:%S', substr(${text}, 1, 19)) = substr(${text}, 1, 19) then substr(${text}, 1, 19) || case when length(${text}) = 20 then '.000Z' else substr(${text}, 20) end end`,
  among: (text, list) => sql`${text} in (select value from json_each(${list}))`,
  amongNumbers: (number, list) => sql`${number} in (select value from json_each(${list}))`,
  amongFound: (number, queries) =>
    sql`${number} in (${sql.join(
      queries.map((query) => sql`select * from ${query}`),
      sql` union all `,
    )})`,
  joinNumbers: (number) => sql`group_concat(${number})`,
  notTrue: (expression) => sql`(${expression}) is not true`,
  rarely: (condition) => sql`likelihood(${condition}, 0.0001)`,
  usually: (condition) => sql`likelihood(${condition}, 0.9999)`,
  findsManyAtOnce: false,
  singleWriter: true,
  concurrent: sql`false`,
  passingLocked: (query) => query,
  awaitingLocked: (query) => query,
};

// The contract refuses quotes and backslashes in keys, so a quoted key needs no escaping.
function toPath(key: string): SQL {
  return sql`${`$."${key}"`}`;
}

function bindText(part: SQLWrapper | string): SQLWrapper {
  return typeof part === "string" ? sql`${part}` : part;
}

// Trigrams that start with a short text: with more of them the text is so common that few rows lack it.
const MAX_TERMS = 500;

// Each further trigram costs 0.1 ms, and the three rarest rule out nearly everything.
const MAX_TRIGRAMS = 3;

// Takes half a millisecond.
const SCAN_FIRST = 2000;

/** An FTS5 index with trigrams. It keeps rowids in order and reads them backwards, so hits come newest first, one by one. */
export function createSearchIndex(q: Pick<Queries, "select">, searched: SearchedText): SearchIndex {
  const findRarest = rankTrigrams(q, searched);
  const name = getTableName(searched.table);
  /** Expression that matches the rows with a text; null if only a scan finds them. */
  const toExpression = async (part: string): Promise<string | null> => {
    const trigrams = await findRarest(part, MAX_TRIGRAMS);
    if (trigrams.length > 0) return trigrams.map(phrase).join(" AND ");
    // A text shorter than three characters is the prefix of some trigrams.
    const terms = await q
      .select({ term: sql<string>`term` })
      .from(sql`${sql.identifier(`${name}_trigrams`)}`)
      .where(sql`term >= ${part} and term < ${`${part}\u{10ffff}`}`)
      .limit(MAX_TERMS + 1);
    return terms.length > MAX_TERMS ? null : terms.map((t) => phrase(t.term)).join(" OR ");
  };
  return {
    scanFirst: (...parts) => (parts.some((part) => [...part].length < 3) ? SCAN_FIRST : 0),
    hits: async (...parts) => {
      const expressions: string[] = [];
      for (const part of parts) {
        const expression = await toExpression(part);
        if (expression === null) return null;
        if (expression !== "") expressions.push(`(${expression})`);
      }
      if (expressions.length === 0) return { from: sql`(select 1 as rowid) as hits`, where: sql`false` };
      return {
        from: sql`${sql.identifier(`${name}_search`)} as hits`,
        where: sql`hits.${sql.identifier(`${name}_search`)} match ${expressions.join(" OR ")}`,
      };
    },
  };
}

function phrase(trigram: string): string {
  return `"${trigram.replaceAll('"', '""')}"`;
}
