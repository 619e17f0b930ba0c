import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import type { Schema } from "../db.ts";

export interface Column {
  readonly name: string;
  /** As Postgres calls it. */
  readonly type: string;
  readonly nullable: boolean;
}

/** A table as a move sees it: its columns, and the key it is walked by. */
export interface Shape {
  readonly table: string;
  readonly columns: readonly Column[];
  /** Names of the columns of the primary key, in order. */
  readonly key: readonly string[];
  /** A column that counts by itself. */
  readonly counter: string | null;
}

/** The shapes of all tables that both databases have. */
export function listShapes(tables: Schema): Shape[] {
  return (Object.values(tables) as PgTable[]).map(shapeOf);
}

export function quote(name: string): string {
  return `"${name}"`;
}
export function list(names: readonly string[]): string {
  return names.map(quote).join(", ");
}

function shapeOf(table: PgTable): Shape {
  const config = getTableConfig(table);
  const columns = config.columns.map((c) => {
    const type = c.getSQLType();
    return { name: c.name, type: type === "bigserial" ? "bigint" : type, nullable: !c.notNull };
  });
  const own = config.columns.filter((c) => c.primary).map((c) => c.name);
  return {
    table: config.name,
    columns,
    key: own.length > 0 ? own : (config.primaryKeys[0]?.columns.map((c) => c.name) ?? []),
    counter: config.columns.find((c) => c.getSQLType() === "bigserial")?.name ?? null,
  };
}
