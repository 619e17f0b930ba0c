import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type PostgresServer, startPostgres } from "../../packages/server/test/postgres-server.ts";
import type { Api } from "./api.ts";
import { type Ready, type ServerProcess, startServer } from "./server.ts";

interface Member {
  readonly api: Api;
  readonly process: ServerProcess;
}

/** Server processes on one Postgres server, which is theirs alone. */
export interface Cluster {
  readonly database: PostgresServer;
  readonly apiKey: string;
  /** The processes; one that was killed is replaced by the next. */
  readonly members: Member[];
  /** Starts a process in the place of another one. */
  replace(place: number): Promise<void>;
  query<R extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<R[]>;
  stop(): Promise<void>;
}

/**
 * Starts `size` processes at once on an empty database, with `flags` each. Throws unless exactly one of them shows a key; in dev mode each
 * shows the same.
 */
export async function startCluster(size: number, flags: readonly string[]): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-cluster-"));
  const database = await startPostgres({ durable: true });
  // Each has its own folder, as on its own machine: the one that creates the keys saves them there.
  const start = (): ServerProcess =>
    startServer({ data: join(folder, String(processes.length)), flags: ["--database-url", database.url, ...flags] });
  const members: Member[] = [];
  const processes: ServerProcess[] = [];
  while (processes.length < size) processes.push(start());
  let apiKey = "";
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map((p) => p.kill("SIGKILL")));
    await database.dispose();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const ready = await Promise.all(processes.map(readyOrThrow));
    const shown = ready.flatMap((r) => r.apiKey ?? []);
    const keys = flags.includes("--dev") ? [...new Set(shown)] : shown;
    if (keys.length !== 1) throw new Error(`${keys.length} of ${size} servers made the first key.`);
    apiKey = keys[0] ?? "";
    ready.forEach(({ url }, i) => {
      members.push({ api: { url, apiKey }, process: processes[i] as ServerProcess });
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    database,
    apiKey,
    members,
    replace: async (place) => {
      const process = start();
      processes.push(process);
      const { url } = await readyOrThrow(process);
      members[place] = { api: { url, apiKey }, process };
    },
    query: async <R extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<R[]> => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        return (await client.query<R>(sql, values)).rows;
      } finally {
        await client.end();
      }
    },
    stop,
  };
}

async function readyOrThrow(process: ServerProcess): Promise<Ready> {
  const ready = await process.ready();
  if (!ready) throw new Error(`A server did not start:\n${process.stderr()}`);
  return ready;
}
