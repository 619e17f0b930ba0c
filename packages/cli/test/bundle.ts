import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";
import { onceInRun } from "../../../test/support/once-in-run.ts";
import tsconfig from "../../../tsconfig.json" with { type: "json" };

const root = fileURLToPath(new URL("../../..", import.meta.url));
const from = (path: string): string => join(root, "packages", path);

/** The folder of the program. */
export const DIST = join(root, "node_modules/.cache/mailsvc/cli-bundle");

/** Bundles the program as it is shipped, with its server next to it, once in a run of tests. Returns the path of its main file. */
export async function bundleProgram(): Promise<string> {
  await onceInRun("cli-bundle", makeBundle);
  return join(DIST, "main.js");
}

/** The sources that are in it, with what they import. */
export function readInputs(): Metafile["inputs"] {
  return (JSON.parse(readFileSync(join(DIST, "metafile.json"), "utf8")) as Metafile).inputs;
}

async function makeBundle(): Promise<void> {
  rmSync(DIST, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [from("cli/src/main.ts")],
    outdir: DIST,
    bundle: true,
    splitting: true,
    metafile: true,
    platform: "node",
    format: "esm",
    target: "node22",
    jsx: "automatic",
    logLevel: "error",
    alias: Object.fromEntries(Object.entries(tsconfig.compilerOptions.paths).map(([name, [file = ""]]) => [name, join(root, file)])),
    external: ["better-sqlite3", "react-devtools-core", "pg-native", "listhen"],
    banner: { js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);' },
  });
  writeFileSync(join(DIST, "metafile.json"), JSON.stringify(metafile));
  writeFileSync(join(DIST, "package.json"), '{"type":"module"}');
  cpSync(from("server/migrations"), join(DIST, "migrations"), { recursive: true });
}
