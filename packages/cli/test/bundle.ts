import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";
import tsconfig from "../../../tsconfig.json" with { type: "json" };

const root = fileURLToPath(new URL("../../..", import.meta.url));
const from = (path: string): string => join(root, "packages", path);

/** Returns the path of a bundle. */
export function findBundle(name: string): string {
  return join(root, "node_modules/.cache/mailsvc", name);
}

/** Builds the program as it is shipped, bundled and with its server next to it, and returns the path of its main file. */
export async function bundleProgram(name: string, look: (metafile: Metafile) => void = () => {}): Promise<string> {
  const dist = findBundle(name);
  rmSync(dist, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [from("cli/src/main.ts")],
    outdir: dist,
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
  look(metafile);
  writeFileSync(join(dist, "package.json"), '{"type":"module"}');
  cpSync(from("server/migrations"), join(dist, "migrations"), { recursive: true });
  return join(dist, "main.js");
}
