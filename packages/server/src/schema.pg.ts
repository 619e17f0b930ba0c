import { columnTypes } from "./db/postgres/columns.ts";
import { rateBuckets, workers } from "./db/postgres/tables.ts";
import { defineTables } from "./schema.ts";

const shared = defineTables(columnTypes);

/** What a Postgres database is opened with. */
export const postgresSchema = { tables: shared, searched: shared.contacts };

/** All tables but those of graphile-worker, for migrations. */
export const tables = { ...shared, rateBuckets, workers };
