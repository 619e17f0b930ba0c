import { columnTypes } from "./db/sqlite/columns.ts";
import { defineTables, listSearchedTexts } from "./schema.ts";
import { version } from "./version.ts";

/** All tables. */
export const tables = defineTables(columnTypes);

/** Schema to open a SQLite database with. */
export const sqliteSchema = { tables, searched: listSearchedTexts(tables), version };
