import { columnTypes, rateBuckets, workers } from "./db/postgres/columns.ts";
import { defineTables, listSearchedTexts } from "./schema.ts";
import { version } from "./version.ts";

const shared = defineTables(columnTypes);

/** Schema to open a Postgres database with. */
export const postgresSchema = { tables: shared, searched: listSearchedTexts(shared), version };

/** All tables, for migrations. */
export const tables = { ...shared, rateBuckets, workers };
