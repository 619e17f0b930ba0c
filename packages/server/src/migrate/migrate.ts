import type { MoveOptions, MoveReport } from "./report.ts";

/** Moves an installation from a folder to a Postgres database; see `move.ts`, which is loaded only now, and Postgres with it. */
export async function migrateToPostgres(options: MoveOptions): Promise<MoveReport> {
  return (await import("./move.ts")).moveToPostgres(options);
}
