import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of a dialect's migrations: beside the bundle once built, at the package's root in the source. */
export const migrationsFolder = (dialect: "sqlite" | "pg"): string => {
  const built = fileURLToPath(new URL(`./migrations/${dialect}`, import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL(`../../migrations/${dialect}`, import.meta.url));
};
