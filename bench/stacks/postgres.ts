import { execFileSync } from "node:child_process";
import { type PostgresServer, startPostgres } from "../../packages/server/test/postgres-server.ts";
import { onCore } from "../cores.ts";

/** A database that a stack keeps its data in. */
export interface Storage {
  /** Address for the application. */
  readonly address: string;
  pid(): number;
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a Postgres that flushes each commit, on the first core. */
export async function startDatabase(): Promise<Storage> {
  const database = await startPostgres({ durable: true });
  onFirstCore(database.pid);
  return {
    address: database.url,
    pid: () => database.pid,
    kill: () => killPostgres(database),
    restart: async () => {
      await database.start();
      onFirstCore(database.pid);
    },
    stop: () => database.dispose(),
  };
}

/** Keeps a running program, and the processes that it will start, on the first core. */
export function onFirstCore(pid: number): void {
  const [program, ...args] = onCore(0);
  if (program) execFileSync(program, [...args.slice(0, -1), "-p", args.at(-1) ?? "0", String(pid)], { stdio: "ignore" });
}

/** Ends it as a crash does: nothing is written any more, and the next start recovers from the log. */
async function killPostgres(database: PostgresServer): Promise<void> {
  process.kill(database.pid, "SIGQUIT");
  await database.stop();
}
