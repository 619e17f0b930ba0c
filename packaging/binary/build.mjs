// Builds one executable file for Linux x64: Node, the command line tool, the server, its migrations and the SQLite driver.
//
//   npm run build:binary        writes build/mailsvc, and next to it the licences and a bill of materials (CycloneDX) of what is inside
//
// The file is a single executable application of Node (SEA): the program is one CommonJS script inside a copy of Node. A cache of
// the code V8 compiled in two rehearsals is inside as well, which saves a third of each start.
//
// For Linux on arm64, run this on such a machine: TARGET then names its driver, and nothing else changes. For macOS the driver
// cannot be loaded from a file without a name: `addon.cjs` uses a random one instead; after `postject` with
// `--macho-segment-name NODE_SEA` the file must be signed again (`codesign --sign - build/mailsvc`).
import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { constants, zstdCompressSync } from "node:zlib";
import Database from "better-sqlite3";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { build } from "esbuild";
import { inject } from "postject";
import tsconfig from "../../tsconfig.json" with { type: "json" };
import { toAscii } from "../ascii.mjs";
import { ABSENT, bundlePlugins } from "../bundle-plugins.mjs";
import { docPages, docPath } from "../doc-pages.mjs";
import { freshSchema } from "../fresh-schema.mjs";
import { collectPackages, writeLicenses } from "../licenses.mjs";
import { nodeComponent, writeSbom } from "../sbom.mjs";
import { rehearse } from "./rehearse.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const here = fileURLToPath(new URL("./", import.meta.url));
const out = join(root, "build");
const work = join(root, "node_modules/.cache/mailsvc/binary");
const require = createRequire(import.meta.url);
const run = promisify(execFile);

// The name of the driver's file for this machine, as better-sqlite3 ships it.
const TARGET = `linux-${process.arch}`;
// The marker in Node's own file that says whether an application is inside: part of Node's documentation of SEA.
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** The files that the packages' names lead to, as for the type checker. */
const sources = Object.fromEntries(Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => [name, join(root, file)]));

const sqliteEntry = `better-sqlite3/${TARGET}`;
const addonFile = require.resolve("better-sqlite3/package.json").replace("package.json", `prebuilds/${TARGET}.node`);

/** Replaces a module of the program by another text; the build fails if the module is gone. */
const replaced = new Map([
  ["packages/server/src/db/migration-files.ts", () => embeddedMigrations()],
  ["packages/server/src/mcp/doc-files.ts", () => embeddedDocs()],
  ["packages/server/src/db/sqlite/driver.ts", () => 'export { driverExpression } from "mailsvc:addon";'],
]);

/** A function's text that gives the value of what `pack` returns. */
const UNPACK = '(packed) => JSON.parse(require("node:zlib").zstdDecompressSync(Buffer.from(packed, "base64")).toString())';

/** A value as a literal: JSON, compressed. */
const pack = (value) => JSON.stringify(zstdCompressSync(JSON.stringify(value)).toString("base64"));

/** The migrations as compressed data: their files cannot be read from inside the binary. */
function embeddedMigrations() {
  const read = (dialect) => readMigrationFiles({ migrationsFolder: join(root, "packages/server/migrations", dialect) });
  const migrations = { sqlite: read("sqlite"), pg: read("pg") };
  const times = Object.fromEntries(Object.entries(migrations).map(([dialect, files]) => [dialect, files.map((file) => file.folderMillis)]));
  return `
const unpack = ${UNPACK};
export const readMigrationFiles = ({ migrationsFolder }) => unpack(${pack(migrations)})[migrationsFolder];
export const migrationsFolder = (dialect) => dialect;
export const readFreshSchema = (folder) => (folder === "sqlite" ? unpack(${pack(freshSchema())}) : null);
export const listMigrations = (folder) => (${JSON.stringify(times)})[folder];
`;
}

/** The documentation that MCP clients read, compressed. */
function embeddedDocs() {
  const pages = docPages().map((page) => [page.replace(/\.md$/, ""), readFileSync(docPath(page), "utf8")]);
  return `export const readDocFiles = () => new Map((${UNPACK})(${pack(pages)}));`;
}

const embed = {
  name: "embed",
  setup: (pass) => {
    const seen = new Set();
    const embedded = join(root, "packages/server/src/db/migration-files.ts");
    pass.onResolve({ filter: /^better-sqlite3$/ }, ({ resolveDir }) => ({ path: require.resolve(sqliteEntry, { paths: [resolveDir] }) }));
    pass.onResolve({ filter: /\.node$/ }, () => ({ path: "addon", namespace: "addon" }));
    pass.onLoad({ filter: /./, namespace: "addon" }, () => ({ contents: 'module.exports = require("mailsvc:addon").addon();' }));
    pass.onResolve({ filter: /^mailsvc:addon$/ }, ({ path }) => ({ path, external: true }));
    // Drizzle's own migrators read the embedded migrations.
    pass.onResolve({ filter: /\/migrator\.js$/ }, ({ importer, path }) =>
      path === "../migrator.js" && importer.includes("drizzle-orm") ? { path: embedded } : undefined,
    );
    pass.onLoad({ filter: /packages\/server\/src\/(?:db|mcp)\// }, ({ path }) => {
      const name = path.slice(root.length);
      const text = replaced.get(name)?.();
      if (text === undefined) return undefined;
      seen.add(name);
      return { contents: text, loader: "js", resolveDir: dirname(path) };
    });
    pass.onEnd(() => {
      const missing = [...replaced.keys()].filter((name) => !seen.has(name));
      return missing.length === 0 ? {} : { errors: missing.map((name) => ({ text: `${name} is not part of the program any more.` })) };
    });
  },
};

/**
 * The layout engine of Ink is loaded with a top-level await, which a CommonJS script cannot have. It is awaited before each
 * screen is imported instead.
 */
const layoutBeforeScreens = {
  name: "layout-before-screens",
  setup: (pass) => {
    let screens = 0;
    pass.onResolve({ filter: /^yoga-layout$/ }, () => ({ path: "yoga-layout", namespace: "layout" }));
    pass.onLoad({ filter: /./, namespace: "layout" }, () => ({
      contents: 'export * from "yoga-layout/load"; import { layout } from "mailsvc:layout"; export default layout();',
      resolveDir: root,
    }));
    pass.onResolve({ filter: /^mailsvc:layout$/ }, ({ path }) => ({ path, namespace: "layout-loader" }));
    pass.onLoad({ filter: /./, namespace: "layout-loader" }, () => ({
      contents: `import { loadYoga } from "yoga-layout/load";
        let loaded;
        export const layout = () => loaded;
        export const loadLayout = async () => { loaded ??= await loadYoga(); };`,
      resolveDir: root,
    }));
    pass.onLoad({ filter: /packages\/cli\/src\/.*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!/import\("[^"]+\.tsx"\)/.test(text)) return undefined;
      screens += 1;
      const awaited = text.replace(/import\(("[^"]+\.tsx")\)/g, "loadLayout().then(() => import($1))");
      return { contents: `import { loadLayout } from "mailsvc:layout";\n${awaited}`, loader: "ts" };
    });
    pass.onEnd(() => (screens > 0 ? {} : { errors: [{ text: "No import of a screen was found." }] }));
  },
};

/** Ink awaits its developer tools at the top level, in blocks that only a variable DEV=true would run. */
const inkWithoutTools = {
  name: "ink-without-tools",
  setup: (pass) =>
    pass.onLoad({ filter: /ink\/build\/reconciler\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace("await import('./devtools.js');", "").replace("await loadPackageJson()", "{}"),
    })),
};

/** Modules that dependencies load for their own command lines: questions at a terminal, and the browser that they open. */
const withoutCommandLines = {
  name: "without-command-lines",
  setup: (pass) =>
    pass.onLoad({ filter: /(?:consola\/dist\/chunks\/prompt|listhen\/dist\/chunks\/xdg-open)\.mjs$/ }, () => ({
      contents: 'throw new Error("This is not part of the program.");',
    })),
};

const common = {
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node24",
  charset: "ascii",
  minify: true,
  legalComments: "none",
  write: false,
  logLevel: "warning",
};

/** The whole program as one script in ASCII: V8 reads such a text with one byte a character. */
async function bundleProgram(packages) {
  const { outputFiles } = await build({
    ...common,
    entryPoints: [join(here, "program.ts")],
    tsconfigRaw: { compilerOptions: { jsx: "react-jsx" } },
    alias: sources,
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "__mailsvcUrl", "process.env.NODE_ENV": '"production"', "process.env.DEV": '"false"' },
    external: ABSENT,
    plugins: [collectPackages(packages), ...bundlePlugins, embed, layoutBeforeScreens, inkWithoutTools, withoutCommandLines],
  });
  return `(function (exports, require, module, __mailsvcUrl) {${toAscii(outputFiles[0].text)}\n})`;
}

/** The driver for threads, as an expression: `driver(addon)` is the class. */
async function bundleDriver() {
  const { outputFiles } = await build({
    ...common,
    stdin: { contents: `module.exports = require(${JSON.stringify(sqliteEntry)});`, resolveDir: root },
    plugins: [
      {
        name: "addon",
        setup: (pass) => {
          pass.onResolve({ filter: /\.node$/ }, () => ({ path: "addon", namespace: "addon" }));
          pass.onLoad({ filter: /./, namespace: "addon" }, () => ({ contents: "module.exports = addon;" }));
        },
      },
    ],
  });
  return `((addon) => { const module = { exports: {} }; ${outputFiles[0].text}; return module.exports; })`;
}

/** The script Node starts: it loads the program from an asset. A rehearsal reads the assets from a folder and writes a cache. */
async function bundleLauncher(rehearsal) {
  const { outputFiles } = await build({
    ...common,
    entryPoints: [join(here, "launcher.cjs")],
    define: {
      REHEARSAL: String(rehearsal),
      VERSION: JSON.stringify(JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")).version),
    },
  });
  return outputFiles[0].text;
}

/** Copies a file without its symbols: 18 MB of Node's. */
async function strip(from, to) {
  await run("strip", ["-o", to, from]).catch((error) => {
    console.error(`Without strip (of binutils) the result is larger: ${error.message}`);
    copyFileSync(from, to);
  });
  chmodSync(to, 0o755);
}

/** The licence of Node and of everything inside it, from the package that brings it. */
function readNodeLicense(node) {
  const folder = join(dirname(node), "..");
  const file = ["LICENSE", "share/doc/node/LICENSE"].map((name) => join(folder, name)).find((path) => existsSync(path));
  const text = file ? readFileSync(file, "utf8") : `Its licence: https://github.com/nodejs/node/blob/${process.version}/LICENSE`;
  return `Node.js ${process.version}\n\n${text}\n${"-".repeat(80)}\n`;
}

/** The SQLite inside the driver. */
function sqliteComponent() {
  const db = new Database(":memory:");
  const version = db.prepare("select sqlite_version()").pluck().get();
  db.close();
  return { type: "library", "bom-ref": `pkg:generic/sqlite@${version}`, name: "sqlite", version, purl: `pkg:generic/sqlite@${version}` };
}

async function main() {
  if (process.platform !== "linux") throw new Error("This script builds the file for Linux; see its head for other systems.");
  const node = process.execPath;
  const [major] = process.versions.node.split(".").map(Number);
  if (major !== 24)
    throw new Error(`Run it with Node 24, which becomes part of the file; this is ${process.version}. npm run build:binary does.`);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  mkdirSync(out, { recursive: true });
  const put = (name, content) => writeFileSync(join(work, name), content);
  const packages = new Set([dirname(addonFile.replace("prebuilds/", ""))]);
  put("app.js", await bundleProgram(packages));
  put("driver.js", await bundleDriver());
  await strip(addonFile, join(work, "addon.node"));
  const compressed = (name) => zstdCompressSync(readFileSync(join(work, name)), { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
  put("addon.zst", compressed("addon.node"));
  put("rehearsal.cjs", await bundleLauncher(true));
  put("launcher.cjs", await bundleLauncher(false));
  await rehearse({ node, folder: work });
  put("serve.cache.zst", compressed("serve.cache"));
  const assets = ["app.js", "driver.js", "addon.zst", "serve.cache.zst", "cli.cache"];
  put(
    "sea.json",
    JSON.stringify({
      main: join(work, "launcher.cjs"),
      output: join(work, "app.blob"),
      disableExperimentalSEAWarning: true,
      useSnapshot: false,
      useCodeCache: true,
      // Options of Node come from --node-options only. NODE_OPTIONS of the environment could hold --inspect and --require.
      execArgvExtension: "cli",
      assets: Object.fromEntries(assets.map((name) => [name, join(work, name)])),
    }),
  );
  await run(node, ["--experimental-sea-config", join(work, "sea.json")]);
  const file = join(work, "mailsvc");
  await strip(node, file);
  await inject(file, "NODE_SEA_BLOB", readFileSync(join(work, "app.blob")), { sentinelFuse: FUSE });
  copyFileSync(file, join(out, "mailsvc"));
  chmodSync(join(out, "mailsvc"), 0o755);
  writeFileSync(join(out, "THIRD-PARTY-LICENSES.txt"), `${readNodeLicense(node)}\n${writeLicenses(packages)}`);
  const { name, version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  writeFileSync(join(out, "mailsvc.cdx.json"), writeSbom({ name, version }, packages, [nodeComponent(), sqliteComponent()]));
  for (const name of readdirSync(work)) if (name === "mailsvc" || name === "app.blob") rmSync(join(work, name));
  console.log(`build/mailsvc: ${(statSync(join(out, "mailsvc")).size / 1e6).toFixed(1)} MB`);
}

await main();
