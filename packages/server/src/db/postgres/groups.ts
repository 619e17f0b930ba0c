import { createHash } from "node:crypto";
import type pg from "pg";
import { StorageUnavailable, storageError } from "../errors.ts";
import { Batcher } from "./batcher.ts";
import { type BulkInsert, listArrays, toArrays } from "./insert.ts";
import type { CollectedRows } from "./light.ts";
import { withTimeout } from "./session.ts";

/** A light transaction whose rows are to be committed. */
export interface Member {
  readonly rows: CollectedRows;
  readonly size: number;
  /** The rows are durable. */
  resolve(): void;
  reject(error: unknown): void;
  /** Its rows were refused when they were written without those of others; nothing was stored. */
  refused(): void;
}

export interface Groups {
  add(member: Member): void;
  /** Commits so far, and the transactions in them. */
  readonly stats: { readonly commits: number; readonly transactions: number };
}

// Transactions in one commit, at most. More would only make all of them wait longer.
const MAX_MEMBERS = 128;
// Characters in one statement, roughly.
const MAX_SIZE = 1_000_000;

/**
 * Commits light transactions in groups: all rows of a group are one statement, which is a transaction of its own, so that a group
 * costs one round trip.
 *
 * | group is | trigger                                   | becomes                                                     |
 * | -------- | ----------------------------------------- | ----------------------------------------------------------- |
 * | waiting  | a connection and a place are free         | sent                                                        |
 * | sent     | success                                   | committed: all members resolve                              |
 * | sent     | an error, and the connection still works  | nothing is stored: two halves, each sent; a single member is refused |
 * | sent     | the connection is lost                    | unknown: all members are rejected with StorageUnavailable   |
 *
 * While it is unknown whether a group was committed, its members must not run again: they would be stored twice.
 */
export function createGroups(pool: pg.Pool): Groups {
  const texts = new Map<string, { name: string; text: string }>();
  const stats = { commits: 0, transactions: 0 };

  /** The statement for these inserts, whose values are numbered through. */
  const toStatement = (inserts: readonly BulkInsert[]): { name: string; text: string } => {
    const key = inserts.map(({ name }) => name).join();
    let statement = texts.get(key);
    if (!statement) {
      let parameters = 0;
      const parts = inserts.map((insert) => {
        const text = insert.build(listArrays(insert, parameters));
        parameters += insert.types.length;
        return text;
      });
      const last = parts.pop() as string;
      const text = parts.length === 0 ? last : `with ${parts.map((part, i) => `i${i} as (${part})`).join(", ")} ${last}`;
      // The name says which inserts these are: a connection may outlive this object, and keeps what it has prepared.
      statement = { name: `group_${createHash("sha256").update(key).digest("hex").slice(0, 24)}`, text };
      texts.set(key, statement);
    }
    return statement;
  };

  const send = (client: pg.PoolClient, members: readonly Member[]): Promise<unknown> => {
    const rows: CollectedRows = new Map();
    for (const member of members)
      for (const [insert, list] of member.rows) {
        const all = rows.get(insert);
        if (all) all.push(...list);
        else rows.set(insert, [...list]);
      }
    // In an order that does not depend on the members: for each set of inserts, one statement.
    const inserts = [...rows.keys()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const values = inserts.flatMap((insert) => toArrays(insert, rows.get(insert) as unknown[][]));
    return client.query(withTimeout({ ...toStatement(inserts), values }));
  };

  /** True when the connection still works, so that an error before meant that nothing was stored. */
  const isAlive = async (client: pg.PoolClient): Promise<boolean> => {
    try {
      await client.query("SELECT 1");
      return true;
    } catch {
      return false;
    }
  };

  /** Commits members, in halves when they fail. False when the connection was lost. */
  const commit = async (client: pg.PoolClient, members: readonly Member[]): Promise<boolean> => {
    try {
      await send(client, members);
    } catch (error) {
      if (!(await isAlive(client))) {
        const translated = storageError(error);
        const lost = translated instanceof StorageUnavailable ? translated : new StorageUnavailable(LOST);
        for (const member of members) member.reject(lost);
        return false;
      }
      const [only] = members;
      if (members.length === 1 && only) {
        only.refused();
        return true;
      }
      const half = members.length >> 1;
      if (await commit(client, members.slice(0, half))) return commit(client, members.slice(half));
      for (const member of members.slice(half)) member.reject(new StorageUnavailable(LOST));
      return false;
    }
    stats.commits += 1;
    stats.transactions += members.length;
    for (const member of members) member.resolve();
    return true;
  };

  const batcher = new Batcher<Member>(
    async (members) => {
      let client: pg.PoolClient;
      try {
        client = await pool.connect();
      } catch (error) {
        for (const member of members) member.reject(storageError(error));
        return;
      }
      const alive = await commit(client, members);
      client.release(!alive);
    },
    { maxItems: MAX_MEMBERS, maxSize: MAX_SIZE, concurrency: 4, full: 64 },
  );

  return { add: (member) => batcher.add(member), stats };
}

const LOST = "The database cannot work at the moment (connection lost).";
