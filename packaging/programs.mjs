// Builds the programs and libraries of the packages with tsup, with the licences and the bill of materials of what they contain.
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import semver from "semver";
import { build } from "tsup";
import { toAscii } from "./ascii.mjs";
import { ABSENT, bundlePlugins, versionOnly } from "./bundle-plugins.mjs";
import { freshSchema } from "./fresh-schema.mjs";
import { detachEntry, joinChunks } from "./join-chunks.mjs";
import { collectPackages, writeLicenses } from "./licenses.mjs";
import { report } from "./report.mjs";
import { writeSbom } from "./sbom.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = (name) => join(root, "packages", name, "dist");

/** Builds them all. Throws when one fails. */
export async function buildPrograms() {
  const bundles = runs.map((run) => report(`${run.name} (${Object.keys(run.entry).join(", ")}), ${run.format}`, bundle(run)));
  await Promise.all(bundles);
  for (const file of globSync("{server,cli}/dist/**/*.js", { cwd: join(root, "packages") })) writeAscii(join(root, "packages", file));
  for (const [name, folders] of inside) {
    const { name: product, version } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
    writeFileSync(join(dist(name), "THIRD-PARTY-LICENSES.txt"), writeLicenses(folders));
    writeFileSync(join(dist(name), "sbom.cdx.json"), writeSbom({ name: product, version }, folders));
  }
  const migrations = join(root, "packages/server/migrations");
  // Snapshots of the schema are for making the next migration only.
  const isUsed = (file) => !file.endsWith("_snapshot.json");
  cpSync(migrations, join(dist("server"), "migrations"), { recursive: true, filter: isUsed });
  writeFileSync(join(dist("server"), "migrations/sqlite/fresh.sql"), freshSchema());
}

function writeAscii(file) {
  const text = readFileSync(file, "utf8");
  const ascii = toAscii(text);
  if (ascii !== text) writeFileSync(file, ascii);
}

/**
 * Lists the dependencies whose installed version is not the one the package asks for: a bundle would silently take another major
 * from a node_modules folder above, where Node and the bundler look, too.
 */
export function listMismatches(name) {
  const folder = join(root, "packages", name);
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return Object.entries({ ...dependencies, ...devDependencies }).flatMap(([dependency, range]) => {
    const found = foldersAbove(folder)
      .map((at) => join(at, "node_modules", dependency, "package.json"))
      .find((manifest) => existsSync(manifest));
    const version = found && JSON.parse(readFileSync(found, "utf8")).version;
    return version && semver.satisfies(version, range) ? [] : [`${name} needs ${dependency} ${range}, found ${version ?? "none"}`];
  });
}

/** A folder and all above it. */
const foldersAbove = (folder) => (dirname(folder) === folder ? [folder] : [folder, ...foldersAbove(dirname(folder))]);

/** A pattern for what one of our packages exports. */
const exportsOf = (name) => {
  const { name: product, exports } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
  const paths = Object.keys(exports).map((path) => path.slice(1));
  return `${product}(?=(?:${paths.join("|")})$)`;
};

// Bundled CommonJS loads Node's own modules with require, which an ES module does not have. Each chunk has this, and few use it.
const requireShim =
  'const require = (id) => process.getBuiltinModule(id) ?? process.getBuiltinModule("node:module").createRequire(import.meta.url)(id);';

/** The entries that a package exports, by the files they become. */
const entriesOf = (name) => {
  const { exports } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
  const files = Object.values(exports).flatMap((target) => target.import?.default ?? []);
  return Object.fromEntries(files.map((file) => file.replace(/^\.\/dist\/|\.js$/g, "")).map((entry) => [entry, `src/${entry}.ts`]));
};

/** The builds: each entry is one tsup run. */
const runs = [
  ...["esm", "cjs"].flatMap((format) => [
    { name: "sdk", format, entry: entriesOf("sdk") },
    // The same without undici, files and schemas.
    { name: "sdk", format, entry: { "web/index": "src/index.ts", "web/webhooks": "src/webhooks.ts" }, web: true },
    { name: "agent-kit", format, entry: entriesOf("agent-kit") },
  ]),
  // The program: one lean file, and chunks that only some starts load. The command line starts the same server.
  {
    name: "server",
    format: "esm",
    entry: { main: "src/main.ts", bundled: "src/index.ts" },
    bundle: true,
    external: ["better-sqlite3"],
    joined: "server/src/program.ts",
  },
  // The library: what the SDK exports stays external, so that a process has one ApiError class.
  {
    name: "server",
    format: "esm",
    entry: { index: "src/index.ts", testing: "src/testing.ts" },
    bundle: true,
    external: ["better-sqlite3", "zod", exportsOf("sdk")],
  },
  {
    name: "cli",
    format: "esm",
    entry: { main: "src/main.ts" },
    bundle: true,
    external: ["@mailsvc/server/bundled", "@mailsvc/server/testing"],
    joined: "cli/src/run.ts",
  },
];

/** The command line starts the server with everything inside it: the library would load zod and the contract file by file. */
const bundledServer = {
  name: "bundled-server",
  setup: (pass) => pass.onResolve({ filter: /^@mailsvc\/server$/ }, () => ({ path: "@mailsvc/server/bundled", external: true })),
};

/** Builds for browsers and workers have the APIs of the web where the SDK has those of Node. */
const webPlatform = {
  name: "web-platform",
  setup: (pass) =>
    pass.onResolve({ filter: /\/platform\/node\.ts$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace(/node\.ts$/, "web.ts")),
    })),
};

/** Adds to `outputs` what esbuild knows about the files that it writes. */
const listOutputs = (outputs) => ({
  name: "list-outputs",
  setup: (pass) => {
    pass.initialOptions.metafile = true;
    pass.onEnd(({ metafile }) => void Object.assign(outputs, metafile.outputs));
  },
});

/** The folders of the packages inside the bundles of each of ours. */
const inside = new Map();
const bundled = (name) => {
  if (!inside.has(name)) inside.set(name, new Set());
  return inside.get(name);
};

const bundle = async ({ name, format, entry, bundle: whole, web, external = [], joined }) => {
  const outside = [...external, ...ABSENT];
  const out = format === "cjs" ? join(dist(name), "cjs") : dist(name);
  const outputs = {};
  await build({
    config: false,
    silent: true,
    entry: Object.fromEntries(Object.entries(entry).map(([to, from]) => [to, join(root, "packages", name, from)])),
    outDir: out,
    format,
    platform: web ? "neutral" : "node",
    target: web ? "es2022" : "node22",
    splitting: format === "esm",
    treeshake: false,
    sourcemap: false,
    dts: false,
    clean: false,
    // This plugin of tsup would run before ours and remove the node: prefix, without which Workers and Deno find no module.
    removeNodeProtocol: false,
    outExtension: () => ({ js: ".js" }),
    // tsup checks noExternal first, so externals must be excluded from it.
    external: outside.map((id) => new RegExp(`^${id}(?:/|$)`)),
    ...(whole
      ? {
          noExternal: [new RegExp(`^(?!node:|(?:${outside.join("|")})(?:/|$))`)],
          banner: { js: requireShim },
          esbuildPlugins: [
            collectPackages(bundled(name)),
            ...(name === "cli" ? [bundledServer] : []),
            ...(joined ? [listOutputs(outputs)] : []),
            ...bundlePlugins,
          ],
        }
      : // The paths of tsconfig.json would make other packages part of this one.
        {
          skipNodeModulesBundle: true,
          tsconfig: join(root, "tsconfig.build.json"),
          esbuildPlugins: [versionOnly, ...(web ? [webPlatform] : [])],
        }),
    esbuildOptions: (options) => {
      options.chunkNames = `chunks/${Object.keys(entry)[0]}-[name]-[hash]`;
      options.legalComments = "none";
      options.minifySyntax = whole === true;
      // The program is read on every start, and its stack traces name places in the bundle either way.
      options.minifyWhitespace = whole === true && "main" in entry;
      // React's production build; and Ink without its developer tools, which a variable DEV=true would switch on.
      if (name === "cli") options.define = { ...options.define, "process.env.NODE_ENV": '"production"', "process.env.DEV": '"false"' };
    },
  });
  if (!joined) return;
  await joinChunks(outputs, joined);
  await detachEntry(outputs, `${name}/src/main.ts`, bundlePlugins);
};
