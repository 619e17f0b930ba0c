import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Beside the bundle, beside the folder of its chunks, and in the source at the package's root.
const PLACES = ["./migrations", "../migrations", "../../migrations"];

/** The folder of a dialect's migrations. */
export const migrationsFolder = (dialect: "sqlite" | "pg"): string => {
  const folders = PLACES.map((place) => fileURLToPath(new URL(`${place}/${dialect}`, import.meta.url)));
  const found = folders.find((folder) => existsSync(folder));
  if (!found) throw new Error(`The migrations of this build are missing: ${folders[0]}.`);
  return found;
};
