// Builds the four packages into packages/*/dist: their programs and their declarations. Does nothing when nothing has changed since the
// last build.
//
//   node scripts/build.mjs [--force]
import { createHash } from "node:crypto";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { docPages, docPath } from "../packaging/doc-pages.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, "node_modules/.cache/mailsvc");
const packages = ["sdk", "agent-kit", "server", "cli"];

/** Parts of the build, each with the stamp of its last build and files that must exist. */
const PROGRAMS = {
  stamp: join(cache, "programs"),
  outputs: ["sdk/dist/index.js", "agent-kit/dist/index.js", "server/dist/main.js", "cli/dist/main.js"],
};
const DECLARATIONS = { stamp: join(cache, "declarations"), outputs: ["sdk/dist/index.d.ts", "sdk/dist/cjs/index.d.ts"] };

/**
 * Builds what has changed; without the declarations, which take half of a build, for those who only run the programs. Returns whether it
 * succeeded; it has printed why not.
 */
export async function buildPackages({ declarations = true, force = false } = {}) {
  const key = inputs();
  const stale = (part) => force || !isFresh(part, key);
  const programs = stale(PROGRAMS);
  const types = declarations && (programs || stale(DECLARATIONS));
  if (!programs && !types) {
    copyDocs();
    return true;
  }
  const from = performance.now();
  console.error("Building; this takes about a minute …");
  const parts = [];
  rmSync(DECLARATIONS.stamp, { force: true });
  if (programs) {
    // Loaded only now, because most starts find nothing to build.
    const { buildPrograms, listMismatches } = await import("../packaging/programs.mjs");
    const mismatches = packages.flatMap(listMismatches);
    if (mismatches.length > 0) {
      console.error(`${mismatches.join("\n")}\nRun npm ci.`);
      return false;
    }
    rmSync(PROGRAMS.stamp, { force: true });
    for (const name of packages) rmSync(join(root, "packages", name, "dist"), { recursive: true, force: true });
    parts.push(buildPrograms());
  }
  if (types) parts.push(import("../packaging/declarations.mjs").then(({ buildDeclarations }) => buildDeclarations()));
  const failures = (await Promise.allSettled(parts)).filter((result) => result.status === "rejected");
  if (failures.length > 0) {
    for (const { reason } of failures) console.error(reason instanceof Error ? reason.message : reason);
    return false;
  }
  copyDocs();
  mkdirSync(cache, { recursive: true });
  if (programs) writeFileSync(PROGRAMS.stamp, key);
  if (types) writeFileSync(DECLARATIONS.stamp, key);
  console.error(`Built in ${((performance.now() - from) / 1000).toFixed(1)} s.`);
  return true;
}

/** Puts the documentation for MCP clients beside the server. Quicker done than asked whether it has changed. */
const copyDocs = () => {
  const to = join(root, "packages/server/dist/docs");
  rmSync(to, { recursive: true, force: true });
  for (const page of docPages()) cpSync(docPath(page), join(to, page));
};

const inputs = () => {
  const files = globSync(
    [
      "packages/*/{src,migrations}/**/*",
      "packages/*/{package,tsconfig.build}.json",
      "packages/dashboard/build.mjs",
      "tsconfig*.json",
      "package-lock.json",
      "scripts/build.mjs",
      "packaging/ascii.mjs",
      "packaging/bundle-plugins.mjs",
      "packaging/declarations.mjs",
      "packaging/fresh-schema.mjs",
      "packaging/join-chunks.mjs",
      "packaging/licenses.mjs",
      "packaging/programs.mjs",
      "packaging/sbom.mjs",
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

const isFresh = ({ stamp, outputs }, key) =>
  existsSync(stamp) && readFileSync(stamp, "utf8") === key && outputs.every((file) => existsSync(join(root, "packages", file)));

if (resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  if (!(await buildPackages({ force: process.argv.includes("--force") }))) process.exitCode = 1;
}
