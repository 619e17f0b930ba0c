import type { PgTable } from "drizzle-orm/pg-core";
import { CHUNK_BYTES, yieldToEventLoop } from "../../../lib/turn.ts";
import type { Schema } from "../../db.ts";
import { MisplacedQuery } from "../../errors.ts";
import { currentScope, type Scope } from "../../scope.ts";
import type { Row } from "../arrays.ts";
import { postgresDialect } from "../dialect.ts";
import { type BulkInsert, type CollectedRows, collectRow } from "../insert.ts";
import type { TableStatements } from "../table-statements.ts";
import type { PgTx } from "../transactions.ts";
import type { SharedReads } from "./shared-reads.ts";

/** Thrown inside a light transaction by what only an ordinary one can do. */
class NotLight extends Error {
  override name = "NotLight";
}

// Approximate maximum of a transaction's rows, in characters. Larger ones are sent one by one: 20 MB in one statement take 50 ms to send.
const MAX_SIZE = 2 * CHUNK_BYTES;

const ORDINARY_ONLY = ["select", "selectDistinct", "insert", "update", "delete", "$count", "prepared", "raw", "updateAll", "deleteAll"];

interface LightParts {
  readonly scope: Scope;
  readonly tables: Schema;
  readonly statements: TableStatements;
  readonly reads: SharedReads;
}

/**
 * A transaction that never reaches the database: it collects the rows it inserts, to be written together with those of others, and
 * looks up committed rows. Everything else needs an ordinary transaction, as does a lookup in a table it has inserted into.
 *
 * | transaction is | trigger                                          | becomes                                       |
 * | -------------- | ------------------------------------------------ | --------------------------------------------- |
 * | light          | `insertAll`, `insertNumbered`                    | light, with more rows                         |
 * | light          | `lookUp` in its own table without rows      | light                                         |
 * | light          | any other query, or more than `MAX_SIZE` of rows | failed: its work runs again in an ordinary one |
 */
export class LightTransaction {
  readonly tx: PgTx;
  readonly rows: CollectedRows = new Map();
  readonly #parts: LightParts;
  readonly #written = new Set<PgTable>();
  #size = 0;
  #failed = false;

  constructor(parts: LightParts) {
    this.#parts = parts;
    this.tx = this.#openTx();
  }

  /** True once it was asked for something that only an ordinary transaction can do. */
  get failed(): boolean {
    return this.#failed;
  }

  /** The length of the texts in the rows, roughly. */
  get size(): number {
    return this.#size;
  }

  #openTx(): PgTx {
    const { scope, tables } = this.#parts;
    const refuse = (): never => this.#refuse();
    return {
      ...Object.fromEntries(ORDINARY_ONLY.map((name) => [name, refuse])),
      t: tables,
      sqlDialect: postgresDialect,
      get searchIndex() {
        return refuse();
      },
      insertAll: async (table: PgTable, rows: readonly Row[]) => this.#insertAll(table, rows),
      insertNumbered: async (table: PgTable, rows: readonly Row[]) => this.#insertNumbered(table, rows),
      nextNumbers: async (table: PgTable, n: number) => this.#askNumbers(table, n),
      lookUp: async (table: PgTable, keys: readonly Row[]) => this.#lookUp(table, keys),
      beforeCommit: (fn: () => Promise<void>) => fn(),
      breathe: yieldToEventLoop,
      afterCommit: (hook: () => void) => void scope.afterCommit.push(hook),
    } as unknown as PgTx;
  }

  #insertAll(table: PgTable, rows: readonly Row[]): void {
    this.#guard();
    const [first] = rows;
    if (!first) return;
    this.#written.add(table);
    const insert = this.#parts.statements.toInsert(table, first);
    for (const row of rows) this.#collect(insert, insert.toValues(row));
  }

  async #insertNumbered(table: PgTable, rows: readonly Row[]): Promise<number[]> {
    this.#guard();
    if (rows.length === 0) return [];
    const numbers = await this.#askNumbers(table, rows.length);
    const { key } = this.#parts.statements.getCounter(table);
    this.#insertAll(
      table,
      rows.map((row, i) => ({ ...row, [key]: numbers[i] })),
    );
    return numbers;
  }

  async #lookUp(table: PgTable, keys: readonly Row[]): Promise<Row[][]> {
    this.#guard();
    const { reads, statements } = this.#parts;
    const [first] = keys;
    if (!first) return [];
    return this.#written.has(table) ? this.#refuse() : reads.ask(statements.toLookup(table, first), keys);
  }

  #collect(insert: BulkInsert, values: unknown[]): void {
    this.#guard();
    if (this.#size > MAX_SIZE) this.#refuse();
    for (const value of values) this.#size += typeof value === "string" ? value.length : value instanceof Uint8Array ? 2 * value.length : 8;
    collectRow(this.rows, insert, values);
  }

  #askNumbers(table: PgTable, n: number): Promise<number[]> {
    this.#guard();
    const { reads, statements } = this.#parts;
    return reads.ask(statements.toNumberQuery(table), n);
  }

  #guard(): void {
    const { scope } = this.#parts;
    if (!scope.open || currentScope.getStore() !== scope)
      throw new MisplacedQuery("A query was made after its transaction had ended, or outside of it.");
  }

  #refuse(): never {
    this.#guard();
    this.#failed = true;
    throw new NotLight("This query needs an ordinary transaction.");
  }
}
