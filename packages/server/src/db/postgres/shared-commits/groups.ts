import { createHash } from "node:crypto";
import type pg from "pg";
import { StorageUnavailable, storageError } from "../../errors.ts";
import { type BulkInsert, type CollectedRows, listArrays, toArrays } from "../insert.ts";
import { withTimeout } from "../pool.ts";
import { Batcher } from "./batcher.ts";

/** A light transaction whose rows are to be committed. */
interface Member {
  readonly rows: CollectedRows;
  readonly size: number;
  /** The rows are durable. */
  resolve(): void;
  reject(error: unknown): void;
  /** Its rows were refused when they were written without those of others; nothing was stored. */
  refused(): void;
}

// Transactions in one commit, at most. More would only make all of them wait longer.
const MAX_MEMBERS = 128;
// Characters in one statement, roughly.
const MAX_SIZE = 1_000_000;

const LOST = "The database cannot work at the moment (connection lost).";

/**
 * Commits light transactions in groups: all rows of a group are one statement, which is its own transaction, so that a group
 * costs one round trip.
 *
 * | group is | trigger                                   | becomes                                                     |
 * | -------- | ----------------------------------------- | ----------------------------------------------------------- |
 * | waiting  | a connection is free                      | sent                                                        |
 * | sent     | success                                   | committed: all members resolve                              |
 * | sent     | an error, and the connection still works  | nothing is stored: two halves, each sent; a single member is refused |
 * | sent     | the connection is lost                    | unknown: all members are rejected with StorageUnavailable   |
 *
 * While it is unknown whether a group was committed, its members must not run again: they would be stored twice.
 */
export class Groups {
  /** Commits so far, and the transactions in them. */
  readonly stats = { commits: 0, transactions: 0 };
  readonly #pool: pg.Pool;
  readonly #batcher: Batcher<Member>;
  /** The statements by the names of their inserts. */
  readonly #statements = new Map<string, { readonly name: string; readonly text: string }>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#batcher = new Batcher<Member>((members) => this.#run(members), {
      maxItems: MAX_MEMBERS,
      maxSize: MAX_SIZE,
      concurrency: 4,
      full: 64,
    });
  }

  add(member: Member): void {
    this.#batcher.add(member);
  }

  async #run(members: readonly Member[]): Promise<void> {
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      for (const member of members) member.reject(storageError(error));
      return;
    }
    const alive = await this.#commit(client, members);
    client.release(!alive);
  }

  /** Commits members, in halves when they fail. False when the connection was lost. */
  async #commit(client: pg.PoolClient, members: readonly Member[]): Promise<boolean> {
    try {
      await this.#send(client, members);
    } catch (error) {
      if (await isAlive(client)) return this.#commitHalves(client, members);
      const translated = storageError(error);
      const lost = translated instanceof StorageUnavailable ? translated : new StorageUnavailable(LOST);
      for (const member of members) member.reject(lost);
      return false;
    }
    this.stats.commits += 1;
    this.stats.transactions += members.length;
    for (const member of members) member.resolve();
    return true;
  }

  /** Finds the member at fault. Nothing of these members is stored. */
  async #commitHalves(client: pg.PoolClient, members: readonly Member[]): Promise<boolean> {
    const [only] = members;
    if (members.length === 1 && only) {
      only.refused();
      return true;
    }
    const half = members.length >> 1;
    if (await this.#commit(client, members.slice(0, half))) return this.#commit(client, members.slice(half));
    for (const member of members.slice(half)) member.reject(new StorageUnavailable(LOST));
    return false;
  }

  #send(client: pg.PoolClient, members: readonly Member[]): Promise<unknown> {
    const rows: CollectedRows = new Map();
    for (const member of members)
      for (const [insert, list] of member.rows) {
        const all = rows.get(insert);
        if (all) all.push(...list);
        else rows.set(insert, [...list]);
      }
    // In an order that does not depend on the members: for each set of inserts, one statement.
    const inserts = [...rows.keys()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const values = inserts.flatMap((insert) => toArrays(insert, rows.get(insert) ?? []));
    return client.query(withTimeout({ ...this.#toStatement(inserts), values }));
  }

  /** The statement for these inserts, whose values are numbered through. */
  #toStatement(inserts: readonly BulkInsert[]): { readonly name: string; readonly text: string } {
    const key = inserts.map(({ name }) => name).join();
    let statement = this.#statements.get(key);
    if (!statement) {
      // The name says which inserts these are: a connection may outlive this object, and keeps what it has prepared.
      const name = `group_${createHash("sha256").update(key).digest("hex").slice(0, 24)}`;
      statement = { name, text: buildStatement(inserts) };
      this.#statements.set(key, statement);
    }
    return statement;
  }
}

function buildStatement(inserts: readonly BulkInsert[]): string {
  let parameters = 0;
  const parts = inserts.map((insert) => {
    const text = insert.build(listArrays(insert, parameters));
    parameters += insert.types.length;
    return text;
  });
  const others = parts.slice(0, -1).map((part, i) => `i${i} as (${part})`);
  return `${others.length > 0 ? `with ${others.join(", ")} ` : ""}${parts.at(-1)}`;
}

/** True when the connection still works, so that an error before meant that nothing was stored. */
async function isAlive(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  }
}
