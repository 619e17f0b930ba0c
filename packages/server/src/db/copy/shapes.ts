import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import type { Schema } from "../db.ts";

export interface Column {
  readonly name: string;
  /** The type on Postgres. */
  readonly type: string;
  readonly nullable: boolean;
}

/** A table as the copy sees it: its columns, and the key by which it is read. */
export interface Shape {
  readonly table: string;
  readonly columns: readonly Column[];
  /** Names of the columns of the primary key, in order. */
  readonly key: readonly string[];
  /** The auto-incremented column. */
  readonly counter: string | null;
}

/** The shapes of all tables that both databases have. */
export function listShapes(tables: Schema): Shape[] {
  return (Object.values(tables) as PgTable[]).map(toShape);
}

export function quote(name: string): string {
  return `"${name}"`;
}
export function list(names: readonly string[]): string {
  return names.map(quote).join(", ");
}

function toShape(table: PgTable): Shape {
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
