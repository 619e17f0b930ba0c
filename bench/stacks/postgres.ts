import { execFileSync } from "node:child_process";
import type { PostgresServer } from "../../packages/server/test/postgres-server.ts";
import { onCore } from "../cores.ts";

/** Keeps a running Postgres, and the processes that it will start, on the first core. */
export function onFirstCore(pid: number): void {
  const [program, ...args] = onCore(0);
  if (program) execFileSync(program, [...args.slice(0, -1), "-p", args.at(-1) ?? "0", String(pid)], { stdio: "ignore" });
}

/** Ends it as a crash does: nothing is written any more, and the next start recovers from the log. */
export async function killPostgres(database: PostgresServer): Promise<void> {
  process.kill(database.pid, "SIGQUIT");
  await database.stop();
}
