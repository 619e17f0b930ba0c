import { readFileSync } from "node:fs";

/** The folder of the migrations of both databases. */
export const MIGRATIONS = new URL("../migrations/", import.meta.url);

/** The statements of one migration. */
export function readStatements(file: string, kind: "sqlite" | "pg" = "sqlite"): string[] {
  return readFileSync(new URL(`${kind}/${file}`, MIGRATIONS), "utf8").split("--> statement-breakpoint");
}

/** The statements of all migrations before the one whose file name ends so, and its own. */
export function readMigration(name: string, kind: "sqlite" | "pg"): { before: string[]; own: string[] } {
  const journal = JSON.parse(readFileSync(new URL(`${kind}/meta/_journal.json`, MIGRATIONS), "utf8")) as { entries: { tag: string }[] };
  const files = journal.entries.map(({ tag }) => `${tag}.sql`);
  const at = files.findIndex((file) => file.endsWith(name));
  return { before: files.slice(0, at).flatMap((file) => readStatements(file, kind)), own: readStatements(files[at] ?? "", kind) };
}
