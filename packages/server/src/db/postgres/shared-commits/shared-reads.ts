import type pg from "pg";
import { StorageUnavailable, storageError } from "../../errors.ts";
import type { SharedQuery } from "../lookup.ts";
import { withTimeout } from "../pool.ts";
import { Batcher } from "./batcher.ts";

type AnyQuery = SharedQuery<unknown, unknown>;

interface Asked {
  readonly query: AnyQuery;
  readonly request: unknown;
  readonly size: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** Answers requests that are made at the same time with one statement for all of a kind, from committed rows. */
export class SharedReads {
  readonly #pool: pg.Pool;
  readonly #batcher: Batcher<Asked>;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#batcher = new Batcher<Asked>((asked) => this.#answerAll(asked), {
      maxItems: 512,
      maxSize: Number.POSITIVE_INFINITY,
      concurrency: 4,
      full: 64,
    });
  }

  ask<Request, Answer>(query: SharedQuery<Request, Answer>, request: Request): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      this.#batcher.add({ query: query as AnyQuery, request, size: 1, resolve: resolve as (answer: unknown) => void, reject });
    });
  }

  /** All queries go out together, on one connection. */
  async #answerAll(asked: readonly Asked[]): Promise<void> {
    const byQuery = [...Map.groupBy(asked, ({ query }) => query).values()];
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
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
    for (const one of failed) await answer(this.#pool, [one]);
  }
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
