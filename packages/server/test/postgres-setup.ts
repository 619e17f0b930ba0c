import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Address at which a test asks for the Postgres server of this run. */
    postgresStarterUrl: string;
    /** Part of the name of each database made in this run. */
    postgresRun: string;
  }
}

export default setup;

/** Removes the databases of a run from a server that goes on. */
async function clear(url: string, run: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>("select datname as name from pg_database where datname like $1", [
      `mailsvc\\_%\\_${run}\\_%`,
    ]);
    for (const { name } of rows) await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
  } finally {
    await client.end();
  }
}

/**
 * One Postgres server for a whole run of tests: started when the first test asks for it, stopped at the end. A run that
 * needs none starts none.
 */
async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  const given = process.env.TEST_POSTGRES_URL;
  const run = randomBytes(4).toString("hex");
  let asked = false;
  const starter = createServer(async (_request, response) => {
    try {
      asked = true;
      if (given === undefined) server ??= startPostgres();
      response.end(given ?? (await server)?.url);
    } catch (error) {
      response.statusCode = 500;
      response.end((error as Error).message);
    }
  });
  await new Promise<void>((listening) => starter.listen(0, "127.0.0.1", listening));
  project.provide("postgresStarterUrl", `http://127.0.0.1:${(starter.address() as AddressInfo).port}`);
  project.provide("postgresRun", run);
  return async () => {
    starter.closeAllConnections();
    starter.close();
    await (await server?.catch(() => undefined))?.dispose();
    if (given !== undefined && asked) await clear(given, run);
  };
}
