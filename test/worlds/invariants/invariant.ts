import { getTableName, is, Table } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Universe } from "../universe.ts";

/** Something that holds in every world once it has come to rest, whatever happened to it. */
export interface Invariant {
  readonly name: string;
  /** Promise, in one sentence. */
  readonly promise: string;
  /** Meaning of the promise, in paragraphs for people who do not know the code. */
  readonly says: readonly string[];
  /** Says what does not hold at rest; empty if all does. */
  check(universe: Universe): Promise<readonly string[]>;
  /** The same at any moment at which nothing is due: what time mends by itself would be right again at rest. */
  always?(universe: Universe): Promise<readonly string[]>;
}

/** All rows of a world, by the names of their tables. */
export async function readAllRows({ world }: Universe): Promise<ReadonlyMap<string, readonly Record<string, unknown>[]>> {
  const { read } = world.app.deps.db;
  const found = new Map<string, readonly Record<string, unknown>[]>();
  for (const table of Object.values(read.t))
    if (is(table, Table)) found.set(getTableName(table), await read.select().from(table as unknown as PgTable));
  return found;
}
