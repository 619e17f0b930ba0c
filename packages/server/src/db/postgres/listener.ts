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
    await client.end().catch(() => {});
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
