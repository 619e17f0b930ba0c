import type { PgTable } from "drizzle-orm/pg-core";
import { findCounter, type NamedColumn, nameOf, quote, type Row } from "./arrays.ts";
import { makeTableInsert, type TableInsert } from "./insert.ts";
import { type Lookup, makeLookup } from "./lookup.ts";

/** Cached statements and counter of a table. */
interface Known {
  readonly counter: NamedColumn | null;
  readonly lookups: Map<string, Lookup>;
  counted?: TableInsert;
  given?: TableInsert;
  numbers?: NumberQuery;
}

/** The statements for the tables of one database, each built at its first use. */
export class TableStatements {
  readonly #tables = new WeakMap<PgTable, Known>();

  /** The insert into a table for rows like `first`: one that names a counter's value, or one that lets it count on. */
  toInsert(table: PgTable, first: Row): TableInsert {
    const known = this.#get(table);
    if (known.counter && first[known.counter.key] === undefined) {
      known.counted ??= makeTableInsert(table, true);
      return known.counted;
    }
    known.given ??= makeTableInsert(table, false);
    return known.given;
  }

  /** The lookup in a table by the columns that `first` names. */
  toLookup(table: PgTable, first: Row): Lookup {
    const { lookups } = this.#get(table);
    const names = Object.keys(first).join();
    const lookup = lookups.get(names) ?? makeLookup(table, first);
    lookups.set(names, lookup);
    return lookup;
  }

  /** The query that takes numbers from the counter of a table. */
  toNumberQuery(table: PgTable): NumberQuery {
    const known = this.#get(table);
    known.numbers ??= makeNumberQuery(table, this.getCounter(table));
    return known.numbers;
  }

  /** The counter of a table. Throws when it has none. */
  getCounter(table: PgTable): NamedColumn {
    const { counter } = this.#get(table);
    if (!counter) throw new Error(`${nameOf(table)} has no counter.`);
    return counter;
  }

  #get(table: PgTable): Known {
    let known = this.#tables.get(table);
    if (!known) {
      known = { counter: findCounter(table), lookups: new Map() };
      this.#tables.set(table, known);
    }
    return known;
  }
}

/** The query that takes numbers from a table's counter. */
interface NumberQuery {
  readonly name: string;
  readonly text: string;
  values(n: number): unknown[];
}

// The table, quoted; the column; how many.
const NEXT_NUMBERS = "select nextval(pg_get_serial_sequence($1, $2)) as n from generate_series(1, $3::int)";

function makeNumberQuery(table: PgTable, { column }: NamedColumn): NumberQuery {
  const name = quote(nameOf(table));
  return { name: "next_numbers", text: NEXT_NUMBERS, values: (n) => [name, column.name, n] };
}
