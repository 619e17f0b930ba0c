import { Column } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/** Converts the values of a column, but for null, from or for the driver; null where nothing is to be converted. */
export type Convert = ((value: unknown) => unknown) | null;

export function findEncoder(column: PgColumn): Convert {
  return column.mapToDriverValue === Column.prototype.mapToDriverValue ? null : (value) => column.mapToDriverValue(value);
}

export function findDecoder(column: PgColumn): Convert {
  return column.mapFromDriverValue === Column.prototype.mapFromDriverValue ? null : (value) => column.mapFromDriverValue(value);
}

/** A converted value; null for one that is absent. */
export function convertValue(convert: Convert, value: unknown): unknown {
  const present = value ?? null;
  return present === null || convert === null ? present : convert(present);
}
