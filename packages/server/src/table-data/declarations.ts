import type { PersonData } from "../data-subjects/declarations.ts";
import type { Schema } from "../db/db.ts";
import type { SealedColumns } from "../installation/seal-anew.ts";
import type { Retention } from "../retention/declarations.ts";
import type { WorkspaceData } from "../workspaces/declarations.ts";

export const OF_SERVER = "It is of the server.";
export const SHORT = "It is gone within a moment, or says again what other tables say.";

/** Declares what holds for the rows of a table, besides its columns. */
export interface TableData<Name extends keyof Schema> {
  /** Personal data in its rows, and the functions that export and erase it. */
  readonly person: PersonData<keyof Schema[Name]["$inferSelect"] & string>;
  /** Time for which rows stay. */
  readonly retention: Retention;
  /** The workspace that rows belong to, exported and deleted with it. */
  readonly workspace: WorkspaceData<Name>;
  /** Columns with sealed bytes, which no export has. */
  readonly sealed?: SealedColumns<Name>;
}

/** The declaration of each table; a missing one does not compile. */
export type TableDataByTable = { readonly [Name in keyof Schema]: TableData<Name> };
