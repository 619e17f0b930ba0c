import pg from "pg";
import { storageError } from "../errors.ts";

/** A connection of its own, which stays: what is listened for and what locks are held go when it does. */
export interface Listener {
  query<R extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<R[]>;
  close(): Promise<void>;
}

export interface ListenerEvents {
  /** Another connection has notified. */
  notified: () => void;
  /** The connection is gone. */
  lost: () => void;
}

/** Opens a listener. It throws what the database's queries throw. */
export async function openListener(options: pg.ClientConfig, events: ListenerEvents): Promise<Listener> {
  const client = new pg.Client({ ...options, pipeline: false } as pg.ClientConfig);
  client.on("error", events.lost);
  client.on("end", events.lost);
  client.on("notification", ({ processId }) => {
    if (processId !== (client as unknown as { processID: number }).processID) events.notified();
  });
  try {
    await client.connect();
  } catch (error) {
    throw storageError(error);
  }
  return {
    query: async <R extends pg.QueryResultRow>(sql: string, values: unknown[] = []) => {
      try {
        return (await client.query<R>(sql, values)).rows;
      } catch (error) {
        throw storageError(error);
      }
    },
    close: () => client.end().catch(() => {}),
  };
}
