// Builds the declarations of the packages with tsc: tsup's own need a compiler API that TypeScript 7 no longer has.
import { execFile } from "node:child_process";
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { report } from "./report.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = (name) => join(root, "packages", name, "dist");

/** Builds them all. Throws when one fails. */
export async function buildDeclarations() {
  // Each package reads the declarations of those before it.
  for (const name of ["sdk", "server", "agent-kit"]) {
    await report(`types of ${name}`, declare(name));
    nameJavaScript(name);
  }
  for (const name of ["sdk", "server"]) pruneDeclarations(name);
  for (const name of ["sdk", "agent-kit"]) declareCommonJs(name);
}

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
 * Removes the declarations that no entry of the package leads to. The rest is its public interface, and must not name a package that is
 * not installed with it.
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
  for (const target of Object.values(exports)) {
    const types = target.types ?? target.import?.types;
    if (types) follow(join(root, "packages", name, types));
  }
  if (foreign.length > 0)
    throw new Error(`The public types of ${name} need packages that are not its dependencies:\n${foreign.join("\n")}`);
  for (const file of globSync("**/*.d.ts", { cwd: dist(name) })) if (!reached.has(join(dist(name), file))) rmSync(join(dist(name), file));
};

/** Copies the declarations next to the CommonJS files, where they count as CommonJS. */
const declareCommonJs = (name) => {
  for (const file of globSync("**/*.d.ts", { cwd: dist(name), exclude: ["cjs/**"] })) {
    cpSync(join(dist(name), file), join(dist(name), "cjs", file), { recursive: true });
  }
  writeFileSync(join(dist(name), "cjs/package.json"), '{ "type": "commonjs" }\n');
};
