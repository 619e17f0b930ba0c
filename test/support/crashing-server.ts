import { cpSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ABSENT, bundlePlugins } from "../../packaging/bundle-plugins.mjs";
import { detachEntry, joinChunks } from "../../packaging/join-chunks.mjs";
import type { Api } from "./api.ts";
import { type ServerProcess, startServer } from "./server.ts";

/** The step at which a process kills itself. */
export interface CrashPoint {
  /**
   * `before commit` and `after commit` of a transaction with statements like these; before a `statement` runs; before the
   * first byte of a `request` with such a body leaves; before the `answer` to such a request is written.
   */
  at: "before commit" | "after commit" | "statement" | "request" | "answer";
  /** Regular expressions, all of which must be met. */
  having: string[];
  /** Number of the occurrence, if it is not the first. */
  nth?: number;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const shim = 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/** The program of `crashing-program.ts`, in one file, since from its sources it would take seconds to start. */
export interface CrashingProgram {
  readonly program: string;
  remove(): void;
}

/** Builds it, about a second, as lean as the one that is shipped: it starts a hundred times. */
export async function buildCrashingProgram(): Promise<CrashingProgram> {
  // Below the repository, so that what stays outside is found.
  const folder = mkdtempSync(join(root, "node_modules/.cache/crashing-"));
  // Compiled code is cached next to it.
  const outdir = join(folder, "program");
  const { metafile } = await build({
    metafile: true,
    entryPoints: [join(root, "test/support/crashing-program.ts")],
    outdir,
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node22",
    format: "esm",
    minifySyntax: true,
    minifyWhitespace: true,
    external: ["better-sqlite3", ...ABSENT],
    plugins: bundlePlugins,
    banner: { js: shim },
    tsconfig: join(root, "tsconfig.json"),
    logLevel: "error",
  });
  await joinChunks(metafile.outputs, "packages/server/src/program.ts");
  await detachEntry(metafile.outputs, "packages/server/src/main.ts", bundlePlugins);
  cpSync(join(root, "packages/server/migrations"), join(outdir, "migrations"), { recursive: true });
  return { program: join(outdir, "crashing-program.js"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A server with a crash point. */
export interface CrashingServer {
  readonly api: Api;
  readonly process: ServerProcess;
  /** Sets the step at which it kills itself from now on. */
  crashAt(point: CrashPoint): void;
}

/** A kill just before, or after, the nth COMMIT of a transaction with such a statement. */
export function beforeCommit(having: string, nth = 1): CrashPoint {
  return { at: "before commit", having: [having], nth };
}
export function afterCommit(having: string, nth = 1): CrashPoint {
  return { at: "after commit", having: [having], nth };
}

interface CrashingServerOptions {
  program: string;
  /** A folder for its crash points and its data. */
  folder: string;
  flags: readonly string[];
  /** Key made before this start: it is not shown again outside dev mode. */
  apiKey?: string;
}

let crashPoints = 0;

/** Starts one without a crash point. Throws with its stderr when it does not start. */
export async function startCrashingServer({ program, folder, flags, apiKey }: CrashingServerOptions): Promise<CrashingServer> {
  const file = join(folder, `crash-point-${crashPoints++}.json`);
  const process = startServer({ program: ["node", program], data: join(folder, "data"), flags: [...flags, "--crash-point", file] });
  const ready = await process.ready();
  const key = ready?.apiKey ?? apiKey;
  if (!ready || key === undefined) throw new Error(`The server did not start: ${process.stderr()}`);
  return {
    api: { url: ready.url, apiKey: key },
    process,
    crashAt: (point) => {
      // Renamed: the other side never reads half of it.
      writeFileSync(`${file}.new`, JSON.stringify(point));
      renameSync(`${file}.new`, file);
    },
  };
}
