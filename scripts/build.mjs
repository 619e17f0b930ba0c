// Builds the four packages into packages/*/dist: JavaScript by tsup, declarations by tsc (tsup's own need a compiler
// that TypeScript 7 no longer is). Does nothing when nothing has changed since the last build.
//
//   node scripts/build.mjs [--force]
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "tsup";
import { documentDeclarations } from "./hover-docs.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, "node_modules/.cache/mailsvc/build");
const dist = (name) => join(root, "packages", name, "dist");

// Bundled CommonJS asks for Node's own modules through require, which an ES module has to be given.
const requireShim = 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/** The builds: each entry is one tsup run. */
const runs = [
  ...["esm", "cjs"].flatMap((format) => [
    { name: "sdk", format, entry: { index: "src/index.ts", "contract/index": "src/contract/index.ts" } },
    { name: "agent-kit", format, entry: { index: "src/index.ts" } },
  ]),
  // The program: one lean file, and beside it what only some starts need, loaded when they do.
  { name: "server", format: "esm", entry: { main: "src/main.ts" }, bundle: true, external: ["better-sqlite3"] },
  // The library: the SDK stays outside, so that there is one ApiError in a process.
  {
    name: "server",
    format: "esm",
    entry: { index: "src/index.ts", testing: "src/testing.ts" },
    bundle: true,
    external: ["better-sqlite3", "zod", "@mailsvc/sdk"],
  },
  { name: "cli", format: "esm", entry: { main: "src/main.ts" }, bundle: true, external: ["@mailsvc/server"] },
];

// Optional dependencies of dependencies, which are not installed.
const ABSENT = ["pg-native", "react-devtools-core"];

// zod loads messages in 40 languages, a third of the code a start compiles; only English is used.
const englishOnly = {
  name: "english-only",
  setup: (pass) => {
    pass.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: 'export { default as en } from "./en.js";' }));
  },
};

// Node gives an ES module all that a module of its own exports, and reads it for that: of node:http also what brings in a whole
// HTTP client, 30 ms of a start. Asked for with require it is left alone.
const quietHttp = {
  name: "quiet-http",
  setup: (pass) => {
    pass.onResolve({ filter: /^(?:node:)?https?$/ }, ({ path, kind }) =>
      kind === "require-call" ? { path, external: true } : { path, namespace: "quiet-http" },
    );
    pass.onLoad({ filter: /./, namespace: "quiet-http" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

const bundle = ({ name, format, entry, bundle: whole, external = [] }) => {
  const outside = [...external, ...ABSENT];
  const out = format === "cjs" ? join(dist(name), "cjs") : dist(name);
  return build({
    config: false,
    silent: true,
    entry: Object.fromEntries(Object.entries(entry).map(([to, from]) => [to, join(root, "packages", name, from)])),
    outDir: out,
    format,
    platform: "node",
    target: "node22",
    splitting: format === "esm",
    treeshake: false,
    sourcemap: false,
    dts: false,
    clean: false,
    outExtension: () => ({ js: ".js" }),
    // tsup asks noExternal first, so what stays outside has to be left out of it.
    external: outside.map((id) => new RegExp(`^${id}(?:/|$)`)),
    ...(whole
      ? {
          noExternal: [new RegExp(`^(?!node:|(?:${outside.join("|")})(?:/|$))`)],
          banner: { js: requireShim },
          esbuildPlugins: [englishOnly, quietHttp],
          // Before ours, it would take node: off and leave the rest to Node.
          removeNodeProtocol: false,
        }
      : { skipNodeModulesBundle: true }),
    esbuildOptions: (options) => {
      options.chunkNames = `chunks/${Object.keys(entry)[0]}-[name]-[hash]`;
      options.legalComments = "none";
      options.minifySyntax = whole === true;
    },
  });
};

/** Declarations go by way of a cache, since a source may read its package.json, one folder up. */
const declare = async (name) => {
  const cache = join(root, "node_modules/.cache/mailsvc/types", name);
  rmSync(cache, { recursive: true, force: true });
  const project = join(root, "packages", name, "tsconfig.build.json");
  const args = [join(root, "node_modules/typescript/bin/tsc"), "-p", project, "--outDir", cache];
  await promisify(execFile)(process.execPath, args).catch((error) => {
    throw new Error(`Declarations of ${name}:\n${error.stdout || error.message}`);
  });
  cpSync(join(cache, "src"), dist(name), { recursive: true });
};

/** Renames `.ts` imports in declarations to `.js`, the files that are published. */
const nameJavaScript = (name) => {
  for (const file of globSync("**/*.d.ts", { cwd: dist(name) })) {
    const path = join(dist(name), file);
    writeFileSync(path, readFileSync(path, "utf8").replace(/((?:from|import)\s*\(?\s*"\.{1,2}\/[^"]+)\.tsx?"/g, '$1.js"'));
  }
};

/** The declarations again beside the CommonJS files, where they count as CommonJS. */
const declareCommonJs = (name) => {
  for (const file of globSync("**/*.d.ts", { cwd: dist(name), exclude: ["cjs/**"] })) {
    cpSync(join(dist(name), file), join(dist(name), "cjs", file), { recursive: true });
  }
  writeFileSync(join(dist(name), "cjs/package.json"), '{ "type": "commonjs" }\n');
};

const inputs = () => {
  const files = globSync(
    [
      "packages/*/{src,migrations}/**/*",
      "packages/*/{package,tsconfig.build}.json",
      "tsconfig*.json",
      "package-lock.json",
      "scripts/build.mjs",
      "scripts/hover-docs.mjs",
    ],
    {
      cwd: root,
    },
  );
  const hash = createHash("sha256").update(process.version);
  for (const file of files.sort()) {
    const stat = statSync(join(root, file));
    if (stat.isFile() && !/\.test\.tsx?$/.test(file)) hash.update(`${file}\0${stat.size}\0${stat.mtimeMs}\n`);
  }
  return hash.digest("hex");
};

const outputs = ["sdk/dist/index.js", "agent-kit/dist/index.js", "server/dist/main.js", "cli/dist/main.js"];
const fresh = (key) =>
  existsSync(stamp) && readFileSync(stamp, "utf8") === key && outputs.every((file) => existsSync(join(root, "packages", file)));

const main = async () => {
  const key = inputs();
  if (fresh(key) && !process.argv.includes("--force")) return;
  const from = performance.now();
  rmSync(stamp, { force: true });
  for (const name of ["sdk", "agent-kit", "server", "cli"]) rmSync(dist(name), { recursive: true, force: true });
  const declared = (async () => {
    // Each package reads the declarations of those before it.
    for (const name of ["sdk", "agent-kit", "server"]) {
      await declare(name);
      nameJavaScript(name);
    }
  })();
  const results = await Promise.allSettled([...runs.map(bundle), declared]);
  const failures = results.filter((result) => result.status === "rejected");
  if (failures.length > 0) {
    for (const { reason } of failures) console.error(reason instanceof Error ? reason.message : reason);
    process.exitCode = 1;
    return;
  }
  await documentDeclarations(dist("sdk"));
  for (const name of ["sdk", "agent-kit"]) declareCommonJs(name);
  const migrations = join(root, "packages/server/migrations");
  if (existsSync(migrations)) cpSync(migrations, join(dist("server"), "migrations"), { recursive: true });
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, key);
  console.error(`Built in ${((performance.now() - from) / 1000).toFixed(1)} s.`);
};

await main();
