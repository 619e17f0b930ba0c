import type { SQL, SQLWrapper } from "drizzle-orm";

/**
 * Expressions the databases spell differently, with the same meaning on both. All of them are null for null, so none
 * of them is true of what is not there.
 */
export interface Words {
  /** A bound text. */
  text(value: string): SQLWrapper;
  /**
   * A text in the form of `lib/fold.ts`, in all scripts. Fold both sides of a comparison here: a Postgres may know the
   * capitals of another year's Unicode than we do.
   */
  fold(text: SQLWrapper): SQL;
  /** True of texts that hold, start with or end with a part, an expression or a text to bind; no character of it has a meaning of its own. */
  holds(text: SQLWrapper, part: SQLWrapper | string): SQL;
  starts(text: SQLWrapper, part: SQLWrapper | string): SQL;
  /** `starts` of an indexed column whose texts are compared by their code points. */
  startsKey(column: SQLWrapper, part: string): SQL;
  ends(text: SQLWrapper, part: SQLWrapper | string): SQL;
  /** What a JSON object holds under a key, if it is a text, a number, true or false; null for everything else. */
  jsonText(object: SQLWrapper, key: string): SQL;
  jsonNumber(object: SQLWrapper, key: string): SQL;
  jsonFlag(object: SQLWrapper, key: string): SQL;
  /** True when something other than null stands under the key. */
  jsonHas(object: SQLWrapper, key: string): SQL;
  /**
   * A date (`2026-01-31`, midnight) or an instant in UTC as `2026-01-31T00:00:00.000Z`, in an order of its own that is
   * the order of time; null for other texts.
   */
  dateText(text: SQLWrapper): SQL;
  /** True of texts that stand in a list, which is bound as JSON: one statement for lists of any length. */
  among(text: SQLWrapper, list: SQLWrapper): SQL;
  /** `expression is not true`: of true and false, and of null, it makes true and false. */
  notTrue(expression: SQLWrapper): SQL;
  /**
   * A query for rows that its transaction will change: those that another one holds are passed over. Where only one writes
   * at a time there are none.
   */
  passingLocked<Q>(query: Q): Q;
}
