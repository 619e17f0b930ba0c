import pg from "pg";
import { postgresBackend } from "../../packages/server/src/backend.pg.ts";
import { type PostgresServer, startPostgres } from "../../packages/server/test/postgres-server.ts";

/** A Postgres database, which is gone after `drop`. */
export interface WorldDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Postgres databases for worlds, on a server that is started for the first of them. */
export interface Databases {
  /** A database with our tables, or without any. */
  create(kind: "migrated" | "empty"): Promise<WorldDatabase>;
  close(): Promise<void>;
}

const TEMPLATE = "worlds_template";

interface Running {
  readonly server: PostgresServer;
  /** A connection to the maintenance database, which makes and drops the others. */
  readonly client: pg.Client;
}

/** Databases with our tables are copies of one that has them. */
export function openDatabases(): Databases {
  let running: Promise<Running> | null = null;
  let made = 0;
  return {
    create: async (kind) => {
      running ??= start();
      const { server, client } = await running;
      made += 1;
      const name = `world_${made}`;
      await client.query(`CREATE DATABASE ${name}${kind === "migrated" ? ` TEMPLATE ${TEMPLATE} STRATEGY file_copy` : ""}`);
      return { url: urlOf(server, name), drop: async () => void (await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)) };
    },
    close: async () => {
      if (running === null) return;
      const { server, client } = await running;
      await client.end();
      await server.dispose();
    },
  };
}

async function start(): Promise<Running> {
  const server = await startPostgres();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE}`);
  await (await postgresBackend(urlOf(server, TEMPLATE))).db.close();
  return { server, client };
}

function urlOf({ url }: PostgresServer, name: string): string {
  const database = new URL(url);
  database.pathname = `/${name}`;
  return database.href;
}
