import pg from "pg";
import { postgresBackend } from "../../packages/server/src/backend.pg.ts";
import { startPostgres } from "../../packages/server/test/postgres-server.ts";

/** Postgres databases for worlds, one each, on a server of their own. */
export interface Databases {
  create(): Promise<{ readonly url: string; drop(): Promise<void> }>;
  close(): Promise<void>;
}

/** Starts a server. Each database is a copy of one that has our tables. */
export async function openDatabases(): Promise<Databases> {
  const server = await startPostgres();
  const urlOf = (name: string): string => {
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  const ask = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await ask("CREATE DATABASE worlds_template");
  await (await postgresBackend(urlOf("worlds_template"))).db.close();
  let made = 0;
  return {
    create: async () => {
      made += 1;
      const name = `world_${made}`;
      await ask(`CREATE DATABASE ${name} TEMPLATE worlds_template`);
      return { url: urlOf(name), drop: () => ask(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
    },
    close: () => server.dispose(),
  };
}
