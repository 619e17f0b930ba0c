import { hash } from "node:crypto";
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

/** A value as it is copied: texts and JSON as text, bytes as bytes, the rest as numbers and booleans. */
export type Value = string | number | boolean | Uint8Array | null;

const MASK = (1n << 64n) - 1n;

/** Counts rows and adds up their hashes. The sum does not depend on the order of rows, because the two databases sort text differently. */
export class RowSum {
  rows = 0;
  #sum = 0n;

  add(row: readonly Value[]): void {
    this.rows += 1;
    this.#sum = (this.#sum + hash("sha256", JSON.stringify(row.map(toHashable)), "buffer").readBigUInt64BE()) & MASK;
  }

  get checksum(): string {
    return this.#sum.toString(16).padStart(16, "0");
  }
}

function toHashable(value: Value): unknown {
  return value instanceof Uint8Array ? [hash("sha256", value, "hex")] : value;
}
