import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where a test asks for the Postgres server of this run. */
    postgresDesk: string;
  }
}

/**
 * One Postgres server for a whole run of tests: started when the first test asks for it, stopped at the end. A run that
 * needs none starts none.
 */
const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  let server: Promise<PostgresServer> | undefined;
  const given = process.env.TEST_POSTGRES_URL;
  const desk = createServer(async (_request, response) => {
    try {
      if (given === undefined) server ??= startPostgres();
      response.end(given ?? (await server)?.url);
    } catch (error) {
      response.statusCode = 500;
      response.end((error as Error).message);
    }
  });
  await new Promise<void>((listening) => desk.listen(0, "127.0.0.1", listening));
  project.provide("postgresDesk", `http://127.0.0.1:${(desk.address() as AddressInfo).port}`);
  return async () => {
    desk.closeAllConnections();
    desk.close();
    await (await server?.catch(() => undefined))?.dispose();
  };
};

export default setup;
