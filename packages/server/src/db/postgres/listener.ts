import pg from "pg";
import { storageError } from "../errors.ts";
import { applySettings } from "./pool.ts";

/** A connection outside the pool that stays open: its subscriptions and locks end with it. */
export interface Listener {
  query<R extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<R[]>;
  close(): Promise<void>;
}

export interface ListenerEvents {
  /** Another connection sent a notification. */
  notified: () => void;
  /** The connection was lost. */
  lost: () => void;
}

/** Opens a listener. Throws what queries of the database throw. */
export async function openListener(options: pg.ClientConfig, events: ListenerEvents): Promise<Listener> {
  const client = new pg.Client(options);
  client.on("error", events.lost);
  client.on("end", events.lost);
  client.on("notification", ({ processId }) => {
    if (processId !== (client as unknown as { processID: number }).processID) events.notified();
  });
  try {
    await client.connect();
    await applySettings(client);
  } catch (error) {
    client.end().catch(() => {});
    throw storageError(error);
  }
  // One after the other: the driver is to refuse a query beside another one on a connection.
  let last: Promise<unknown> = Promise.resolve();
  return {
    query: <R extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<R[]> => {
      const result = last.then(async () => (await client.query<R>(sql, values)).rows).catch((error: unknown) => throwStorageError(error));
      last = result.catch(() => {});
      return result;
    },
    close: () => client.end().catch(() => {}),
  };
}

function throwStorageError(error: unknown): never {
  throw storageError(error);
}
