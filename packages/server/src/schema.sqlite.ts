import { columnTypes } from "./db/sqlite/columns.ts";
import { queueTables } from "./queue/tables.ts";
import { defineTables, listSearchedTexts } from "./schema.ts";
import { version } from "./version.ts";

const shared = defineTables(columnTypes);

/** What a SQLite database is opened with. */
export const sqliteSchema = { tables: shared, searched: listSearchedTexts(shared), version };

/** The queue's table; on Postgres graphile-worker has its own. */
export const { jobs } = queueTables(columnTypes);

/** All tables, for migrations. */
export const tables = { ...shared, jobs };
