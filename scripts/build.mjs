// Builds the four packages into packages/*/dist: JavaScript with tsup, declarations with tsc (tsup's own need a compiler API
// that TypeScript 7 no longer has). Does nothing when nothing has changed since the last build.
//
//   node scripts/build.mjs [--force]
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import semver from "semver";
import { build } from "tsup";
import { ABSENT, bundlePlugins } from "./bundle-plugins.mjs";
import { freshSchema } from "./fresh-schema.mjs";
import { documentDeclarations } from "./hover-docs.mjs";
import { collectPackages, writeLicenses } from "./licenses.mjs";
import { writeSbom } from "./sbom.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, "node_modules/.cache/mailsvc/build");
const packages = ["sdk", "agent-kit", "server", "cli"];
const dist = (name) => join(root, "packages", name, "dist");

// Bundled CommonJS loads Node's own modules with require, which an ES module does not have.
const requireShim = 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/** The entries that a package exports, by the files they become. */
const entriesOf = (name) => {
  const { exports } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
  const files = Object.values(exports).flatMap((target) => target.import?.default ?? []);
  return Object.fromEntries(files.map((file) => file.replace(/^\.\/dist\/|\.js$/g, "")).map((entry) => [entry, `src/${entry}.ts`]));
};

/** The builds: each entry is one tsup run. */
const runs = [
  ...["esm", "cjs"].flatMap((format) => [
    { name: "sdk", format, entry: { index: "src/index.ts", "contract/index": "src/contract/index.ts" } },
    { name: "agent-kit", format, entry: entriesOf("agent-kit") },
  ]),
  // The program: one lean file, and chunks that only some starts load. The command line starts the same server.
  { name: "server", format: "esm", entry: { main: "src/main.ts", bundled: "src/index.ts" }, bundle: true, external: ["better-sqlite3"] },
  // The library: the SDK stays external, so that a process has one ApiError class.
  {
    name: "server",
    format: "esm",
    entry: { index: "src/index.ts", testing: "src/testing.ts" },
    bundle: true,
    external: ["better-sqlite3", "zod", "@mailsvc/sdk"],
  },
  {
    name: "cli",
    format: "esm",
    entry: { main: "src/main.ts" },
    bundle: true,
    external: ["@mailsvc/server/bundled", "@mailsvc/server/testing"],
  },
];

/** The command line starts the server with everything inside it: the library would load zod and the contract file by file. */
const bundledServer = {
  name: "bundled-server",
  setup: (pass) => pass.onResolve({ filter: /^@mailsvc\/server$/ }, () => ({ path: "@mailsvc/server/bundled", external: true })),
};

/** The folders of the packages inside the bundles of each of ours. */
const inside = new Map();
const bundled = (name) => {
  if (!inside.has(name)) inside.set(name, new Set());
  return inside.get(name);
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
    // This plugin of tsup would run before ours and remove the node: prefix, without which Workers and Deno find no module.
    removeNodeProtocol: false,
    outExtension: () => ({ js: ".js" }),
    // tsup checks noExternal first, so externals must be excluded from it.
    external: outside.map((id) => new RegExp(`^${id}(?:/|$)`)),
    ...(whole
      ? {
          noExternal: [new RegExp(`^(?!node:|(?:${outside.join("|")})(?:/|$))`)],
          banner: { js: requireShim },
          esbuildPlugins: [collectPackages(bundled(name)), ...(name === "cli" ? [bundledServer] : []), ...bundlePlugins],
        }
      : // The paths of tsconfig.json would make other packages part of this one.
        { skipNodeModulesBundle: true, tsconfig: join(root, "tsconfig.build.json") }),
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
};

/**
 * Declarations are written to a cache first, because sources that import package.json make tsc add a src folder. Types are checked by
 * `npm run typecheck`, of the same sources: to check them here as well would take half of the build. Four checkers, as many as there are
 * otherwise, each infer much of the same, in twice the processor time and half as long again.
 */
const declare = async (name) => {
  const cache = join(root, "node_modules/.cache/mailsvc/types", name);
  rmSync(cache, { recursive: true, force: true });
  const project = join(root, "packages", name, "tsconfig.build.json");
  const args = [join(root, "node_modules/typescript/bin/tsc"), "-p", project, "--noCheck", "--checkers", "1", "--outDir", cache];
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

/**
 * Removes the declarations that no entry of the package leads to. What remains is its public interface, and must not name a
 * package that is not installed with it.
 */
const pruneDeclarations = (name) => {
  const {
    exports,
    dependencies = {},
    peerDependencies = {},
  } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
  const reached = new Set();
  const foreign = [];
  const follow = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const [, from] of readFileSync(file, "utf8").matchAll(/(?:\bfrom |\bimport\()"([^"]+)"/g)) {
      const id = from
        .split("/")
        .slice(0, from.startsWith("@") ? 2 : 1)
        .join("/");
      if (from.startsWith(".")) follow(join(dirname(file), from.replace(/\.js$/, ".d.ts")));
      else if (!isBuiltin(from) && !(id in dependencies) && !(id in peerDependencies))
        foreign.push(`${relative(root, file)} names ${from}`);
    }
  };
  for (const target of Object.values(exports)) if (target.types) follow(join(root, "packages", name, target.types));
  if (foreign.length > 0)
    throw new Error(`The public types of ${name} need packages that are not its dependencies:\n${foreign.join("\n")}`);
  for (const file of globSync("**/*.d.ts", { cwd: dist(name) })) if (!reached.has(join(dist(name), file))) rmSync(join(dist(name), file));
};

/** Copies the declarations beside the CommonJS files, where they count as CommonJS. */
const declareCommonJs = (name) => {
  for (const file of globSync("**/*.d.ts", { cwd: dist(name), exclude: ["cjs/**"] })) {
    cpSync(join(dist(name), file), join(dist(name), "cjs", file), { recursive: true });
  }
  writeFileSync(join(dist(name), "cjs/package.json"), '{ "type": "commonjs" }\n');
};

/**
 * Lists the dependencies whose installed version is not the one the package asks for: a bundle would silently take another major
 * from a node_modules folder above.
 */
const listMismatches = (name) => {
  const folder = join(root, "packages", name);
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return Object.entries({ ...dependencies, ...devDependencies }).flatMap(([dependency, range]) => {
    const found = [folder, root].map((at) => join(at, "node_modules", dependency, "package.json")).find((manifest) => existsSync(manifest));
    const version = found && JSON.parse(readFileSync(found, "utf8")).version;
    return version && semver.satisfies(version, range) ? [] : [`${name} needs ${dependency} ${range}, found ${version ?? "none"}`];
  });
};

/** Reports the end of each part on stderr, because a build takes a minute. */
const report = async (label, work) => {
  const from = performance.now();
  await work;
  console.error(`  ${label.padEnd(28)} ${((performance.now() - from) / 1000).toFixed(1)} s`);
};

const inputs = () => {
  const files = globSync(
    [
      "packages/*/{src,migrations}/**/*",
      "packages/*/{package,tsconfig.build}.json",
      "tsconfig*.json",
      "package-lock.json",
      "scripts/build.mjs",
      "scripts/bundle-plugins.mjs",
      "scripts/fresh-schema.mjs",
      "scripts/hover-docs.mjs",
      "scripts/licenses.mjs",
      "scripts/sbom.mjs",
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
  const mismatches = packages.flatMap(listMismatches);
  if (mismatches.length > 0) {
    console.error(`${mismatches.join("\n")}\nRun npm ci.`);
    process.exitCode = 1;
    return;
  }
  const from = performance.now();
  console.error("Building; this takes about a minute …");
  rmSync(stamp, { force: true });
  for (const name of packages) rmSync(dist(name), { recursive: true, force: true });
  const declared = (async () => {
    // Each package reads the declarations of those before it.
    for (const name of ["sdk", "server", "agent-kit"]) {
      await report(`types of ${name}`, declare(name));
      nameJavaScript(name);
    }
  })();
  const bundles = runs.map((run) => report(`${run.name} (${Object.keys(run.entry).join(", ")}), ${run.format}`, bundle(run)));
  const results = await Promise.allSettled([...bundles, declared]);
  const failures = results.filter((result) => result.status === "rejected");
  if (failures.length > 0) {
    for (const { reason } of failures) console.error(reason instanceof Error ? reason.message : reason);
    process.exitCode = 1;
    return;
  }
  pruneDeclarations("server");
  for (const [name, folders] of inside) {
    const { name: product, version } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
    writeFileSync(join(dist(name), "THIRD-PARTY-LICENSES.txt"), writeLicenses(folders));
    writeFileSync(join(dist(name), "sbom.cdx.json"), writeSbom({ name: product, version }, folders));
  }
  await documentDeclarations(dist("sdk"));
  for (const name of ["sdk", "agent-kit"]) declareCommonJs(name);
  const migrations = join(root, "packages/server/migrations");
  cpSync(migrations, join(dist("server"), "migrations"), { recursive: true });
  writeFileSync(join(dist("server"), "migrations/sqlite/fresh.sql"), freshSchema());
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, key);
  console.error(`Built in ${((performance.now() - from) / 1000).toFixed(1)} s.`);
};

await main();
