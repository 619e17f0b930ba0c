import type { columnTypes } from "./postgres/columns.ts";

/**
 * The column types a feature's tables may use. Postgres defines them, because its types forbid what only SQLite can do;
 * `sqlite/columns.ts` has the same names and yields the same JavaScript values.
 */
export type ColumnTypes = typeof columnTypes;
