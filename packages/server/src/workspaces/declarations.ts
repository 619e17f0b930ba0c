import type { SQL } from "drizzle-orm";
import type { Schema, Tx } from "../db/db.ts";
import type { WorkspaceDeps } from "./workspaces.ts";

type ColumnOf<Name extends keyof Schema> = keyof Schema[Name]["$inferSelect"] & string;

/** A column of a table that names rows of another one, which have a column with their workspace. */
export interface Parent<Column extends string = string> {
  readonly table: keyof Schema;
  readonly column: Column;
  /** Field of the other row that the column names; `id` when absent. */
  readonly key?: string;
  /** Text in the column after the name of the other row. */
  readonly suffix?: string;
}

/**
 * Declaration of the way in which the rows of a table belong to workspaces.
 *
 * | declared    | the rows of a workspace                                        |
 * | ----------- | -------------------------------------------------------------- |
 * | `none`      | none, with the reason                                          |
 * | `with`      | go with those of another table, whose `remove` deletes both    |
 * | `workspace` | have the workspace in this column                              |
 * | `of`        | name a row of the workspace in another table                   |
 *
 * `stop` ends what the rows do from the instant on in which the workspace is deleted. `remove` deletes rows that more than a condition
 * finds. `hidden` are columns with secrets, or hashes of them, which no export has; `secretless` are those that sound like one.
 */
export type WorkspaceData<Name extends keyof Schema = keyof Schema> =
  | { readonly none: string }
  | { readonly with: keyof Schema }
  | {
      readonly workspace?: ColumnOf<Name>;
      readonly of?: readonly Parent<ColumnOf<Name>>[];
      readonly stop?: (tx: Tx, deps: WorkspaceDeps, workspaceId: string) => Promise<unknown>;
      readonly remove?: (tx: Tx, where: SQL, deps: WorkspaceDeps) => Promise<unknown>;
      readonly hidden?: readonly ColumnOf<Name>[];
      readonly secretless?: readonly ColumnOf<Name>[];
      /** Reason the rows are in no export. */
      readonly unexported?: string;
    };

/** The declaration of each table; a missing one does not compile. */
export type WorkspaceDataByTable = { readonly [Name in keyof Schema]: WorkspaceData<Name> };

/** A table with rows of workspaces. */
export interface OwnedTable {
  readonly name: keyof Schema;
  readonly workspace: string | null;
  readonly of: readonly Parent[];
  readonly stop: ((tx: Tx, deps: WorkspaceDeps, workspaceId: string) => Promise<unknown>) | null;
  readonly remove: ((tx: Tx, where: SQL, deps: WorkspaceDeps) => Promise<unknown>) | null;
  readonly hidden: readonly string[];
  readonly isExported: boolean;
}

/** The tables with rows of workspaces, each before those whose rows it names. */
export function listOwnedTables(data: WorkspaceDataByTable): OwnedTable[] {
  const owned = new Map<keyof Schema, OwnedTable>();
  for (const [name, one] of Object.entries<WorkspaceData>(data as Readonly<Record<string, WorkspaceData>>)) {
    if ("none" in one || "with" in one) continue;
    const { workspace = null, of = [], stop = null, remove = null, hidden = [], unexported } = one;
    const table = name as keyof Schema;
    owned.set(table, { name: table, workspace, of, stop, remove, hidden, isExported: unexported === undefined });
  }
  const parentsFirst = new Set<OwnedTable>();
  const visit = (table: OwnedTable): void => {
    for (const { table: parent } of table.of) {
      const found = owned.get(parent);
      if (found && !parentsFirst.has(found)) visit(found);
    }
    parentsFirst.add(table);
  };
  for (const table of owned.values()) visit(table);
  return [...parentsFirst].reverse();
}
