import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// Next to the bundle and next to the folder of its chunks, where the build puts the pages; and in the repository.
const LOCATIONS = ["./docs", "../docs", "../../../../docs"];

/** The pages of the documentation for users by their path, such as `start/server`. Throws if they are missing. */
export function readDocFiles(): ReadonlyMap<string, string> {
  const folder = LOCATIONS.map((location) => fileURLToPath(new URL(location, import.meta.url))).find((path) => existsSync(path));
  if (folder === undefined) throw new Error("The documentation of this build is missing.");
  const files = globSync(["*.md", "{start,recipes,moving}/*.md"], { cwd: folder }).sort();
  return new Map(files.map((file) => [file.replaceAll("\\", "/").replace(/\.md$/, ""), readFileSync(join(folder, file), "utf8")]));
}
