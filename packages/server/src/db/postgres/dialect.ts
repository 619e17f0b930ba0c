import { DATE_PATTERN, HOUR_PATTERN } from "@mailsvc/sdk/contract";
import { or, type SQLWrapper, sql } from "drizzle-orm";
import type { Queries } from "../db.ts";
import type { SqlDialect } from "../dialect.ts";
import { rankTrigrams, type SearchedText, type SearchIndex } from "../search-index.ts";

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
  findsManyAtOnce: true,
  singleWriter: false,
  concurrent: sql`true`,
  passingLocked: <Q>(query: Q): Q => (query as Lockable<Q>).for("update", { skipLocked: true }),
  awaitingLocked: <Q>(query: Q): Q => (query as Lockable<Q>).for("update"),
};

function bindText(part: SQLWrapper | string): SQLWrapper {
  return typeof part === "string" ? sql`${part}::text` : part;
}

// The rarest four rule out nearly everything.
const MAX_TRIGRAMS = 4;

// Takes a few ms. A text that is not among these is in fewer than one of 300 rows: the index has at most 3,000 hits per million.
const SCAN_FIRST = 6000;

/** A GIN index of trigrams returns all hits at once, unordered, so the newest rows are scanned first, which finds common texts. */
export function createSearchIndex(q: Pick<Queries, "select">, searched: SearchedText): SearchIndex {
  const findRarest = rankTrigrams(q, searched);
  const text = sql.identifier(searched.text.name);
  const toQuery = async (part: string): Promise<string> => {
    const trigrams = await findRarest(part, MAX_TRIGRAMS);
    return trigrams.length > 0 ? trigrams.map(lexeme).join(" & ") : `${lexeme(part)}:*`;
  };
  return {
    scanFirst: () => SCAN_FIRST,
    hits: async (...parts) => {
      const query = (await Promise.all(parts.map(async (part) => `(${await toQuery(part)})`))).join(" | ");
      const contain = or(...parts.map((part) => sql`strpos(${text}, ${part}::text) > 0`));
      return {
        // `offset 0` keeps the planner from walking the whole table in the hope of an early hit, and the inner order lets it stop
        // at the limit. The workspace is checked outside: in here the planner would choose the index of all its rows.
        from: sql`(select seq as rowid from ${searched.table} where contact_trigrams(${text}) @@ ${query}::tsquery and ${contain} order by seq desc offset 0) as hits`,
        where: undefined,
      };
    },
  };
}

function lexeme(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
