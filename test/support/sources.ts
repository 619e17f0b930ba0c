import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the repository. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** All sources of the repository by their paths, in the order of these. */
export const sources: ReadonlyMap<string, string> = new Map(
  globSync(["*.ts", "packages/*/*.{ts,mjs}", "{packages/*/{src,bin,test},packaging,scripts,test,bench,examples,site}/**/*.{ts,tsx,mjs}"], {
    cwd: root,
    exclude: ["**/node_modules/**", "**/dist/**"],
  })
    .map((path) => path.replaceAll("\\", "/"))
    .sort()
    .map((path) => [path, readFileSync(`${root}/${path}`, "utf8")]),
);

/** The sources of the packages' entry points, by the name that imports them. */
export const entries: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(
    (JSON.parse(readFileSync(`${root}/tsconfig.json`, "utf8")) as { compilerOptions: { paths: Record<string, [string]> } }).compilerOptions
      .paths,
  ).map(([name, [path]]) => [name, posix.normalize(path)]),
);
