import type { PgTable } from "drizzle-orm/pg-core";
import type pg from "pg";
import { StorageUnavailable, storageError } from "../errors.ts";
import { nameOf, quote } from "./arrays.ts";
import { Batcher } from "./batcher.ts";
import { getCounter, NEXT_NUMBERS } from "./insert.ts";
import { withTimeout } from "./session.ts";

/** A prepared statement that answers many requests at once. */
export interface SharedQuery<Request, Answer> {
  readonly name: string;
  readonly text: string;
  values(requests: readonly Request[]): unknown[];
  /** The answer to each request. */
  split(rows: readonly Record<string, unknown>[], requests: readonly Request[]): Answer[];
}

/** Answers requests that are made at the same time with one statement for all of a kind, from committed rows. */
export interface SharedReads {
  ask<Request, Answer>(query: SharedQuery<Request, Answer>, request: Request): Promise<Answer>;
}

type AnyQuery = SharedQuery<unknown, unknown>;

interface Asked {
  readonly query: AnyQuery;
  readonly request: unknown;
  readonly size: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

export function createSharedReads(pool: pg.Pool): SharedReads {
  const batcher = new Batcher<Asked>((asked) => answerAll(pool, asked), {
    maxItems: 512,
    maxSize: Number.POSITIVE_INFINITY,
    concurrency: 4,
    full: 64,
  });
  return {
    ask: <Request, Answer>(query: SharedQuery<Request, Answer>, request: Request) =>
      new Promise<Answer>((resolve, reject) => {
        batcher.add({ query: query as AnyQuery, request, size: 1, resolve: resolve as (answer: unknown) => void, reject });
      }),
  };
}

const numberQueries = new WeakMap<PgTable, SharedQuery<number, number[]>>();

/** Takes numbers from a table's counter; the request is how many. */
export function toNumberQuery(table: PgTable): SharedQuery<number, number[]> {
  let query = numberQueries.get(table);
  if (!query) {
    const name = quote(nameOf(table));
    const { column } = getCounter(table);
    query = {
      name: "next_numbers",
      text: NEXT_NUMBERS,
      values: (requests) => [name, column.name, requests.reduce((sum, n) => sum + n, 0)],
      split: (rows, requests) => {
        const numbers = rows.map((row) => Number(row["n"])).sort((a, b) => a - b);
        return requests.map((n) => numbers.splice(0, n));
      },
    };
    numberQueries.set(table, query);
  }
  return query;
}

/** All queries go out together, on one connection. */
async function answerAll(pool: pg.Pool, asked: readonly Asked[]): Promise<void> {
  const byQuery = [...Map.groupBy(asked, ({ query }) => query).values()];
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    for (const { reject } of asked) reject(storageError(error));
    return;
  }
  const { stream } = (client as unknown as { connection: { stream: { cork(): void; uncork(): void } } }).connection;
  stream.cork();
  const answering = byQuery.map((same) => answer(client, same));
  stream.uncork();
  const failed = (await Promise.all(answering)).flat();
  client.release();
  // One request that the database refuses, such as a text it cannot store, must not fail the others.
  for (const one of failed) await answer(pool, [one]);
}

/** Returns the requests to be answered one by one. */
async function answer(connection: pg.Pool | pg.PoolClient, asked: readonly Asked[]): Promise<readonly Asked[]> {
  const { query } = asked[0] as Asked;
  const requests = asked.map(({ request }) => request);
  try {
    const { rows } = await connection.query<Record<string, unknown>>(
      withTimeout({ name: query.name, text: query.text, values: query.values(requests) }),
    );
    const answers = query.split(rows, requests);
    asked.forEach(({ resolve }, i) => {
      resolve(answers[i]);
    });
    return [];
  } catch (error) {
    const translated = storageError(error);
    if (asked.length > 1 && !(translated instanceof StorageUnavailable)) return asked;
    for (const { reject } of asked) reject(translated);
    return [];
  }
}
