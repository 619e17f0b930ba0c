// Releases all packages at one version.
//
//   npm run release -- version 0.2.0      writes the version into every package, and a heading into CHANGELOG.md
//   npm run release -- build              makes all artefacts of the last commit, from a clean clone, into build/release/VERSION
//   npm run release -- check [FOLDER]     checks them by using them; `--only packages,site` some of them
//   npm run release -- --dry-run          both: a release without publishing
//   npm run release -- channels FOLDER    makes compose.yaml, chart, formula, flake and install.sh anew, and the checksums, from all files there
//   npm run release -- publish            builds and publishes the packages, each after those it needs
//   npm run release -- publish FOLDER     publishes the files of a release instead; `--stage` lets a person approve them before others see them
//
// `publish --dry-run` packs and checks without publishing. `--tag next` publishes a version that `npm install` does not take by itself.
// npm signs where and from which commit a package was built (provenance), which it can only do in a CI job with an identity
// (GitHub: `permissions: id-token: write`; GitLab: an id token for sigstore). For a registry without it: `--no-provenance`.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { constants, zstdCompressSync } from "node:zlib";
import semver from "semver";
import { PUBLISHED } from "./published.mjs";

const KINDS = ["dependencies", "devDependencies", "peerDependencies"];
const UNRELEASED = "## Unreleased\n";

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

/**
 * Writes a version into every manifest, lock file and template, and a heading into CHANGELOG.md. Throws on a version that is not newer,
 * unless it is the current one and not released yet, as the first version is.
 */
export function writeVersion(root, version, date) {
  const manifestOf = (name) => join(root, "packages", name, "package.json");
  const current = readJson(manifestOf("cli")).version;
  if (!semver.valid(version)) throw new Error(`${version} is not a version: MAJOR.MINOR.PATCH.`);
  const changes = join(root, "CHANGELOG.md");
  const before = readFileSync(changes, "utf8");
  if (semver.lt(version, current) || (version === current && isReleased(before, version)))
    throw new Error(`${version} is not newer than ${current}.`);
  const own = new Set(PUBLISHED.map((name) => readJson(manifestOf(name)).name));

  const renew = (manifest) => {
    for (const kind of KINDS) for (const name of Object.keys(manifest[kind] ?? {})) if (own.has(name)) manifest[kind][name] = version;
    return manifest;
  };
  const rewrite = (file, change) => writeFileSync(file, `${JSON.stringify(change(readJson(file)), null, 2)}\n`);
  for (const file of globSync("{package,{packages,examples}/*/package}.json", { cwd: root }))
    rewrite(join(root, file), (manifest) => renew({ ...manifest, version }));
  // A new agent has its own version, and needs this one of our packages.
  for (const file of globSync("packages/cli/templates/agent/*/package.json", { cwd: root })) rewrite(join(root, file), renew);
  const lock = join(root, "package-lock.json");
  if (existsSync(lock))
    rewrite(lock, (text) => {
      text.version = version;
      for (const [path, entry] of Object.entries(text.packages))
        if (!path.includes("node_modules/")) text.packages[path] = renew({ ...entry, version });
      return text;
    });

  if (!before.includes(UNRELEASED)) throw new Error(`CHANGELOG.md has no heading "${UNRELEASED.trim()}".`);
  writeFileSync(changes, before.replace(UNRELEASED, `${UNRELEASED}\n## ${version} (${date})\n`));
}

/** Keeps the API of a version, with which test/api-promise.test.ts compares every later one. */
function keepApi(root, version) {
  const folder = join(root, "test/fixtures/api");
  mkdirSync(folder, { recursive: true });
  const document = readFileSync(join(root, "openapi.json"));
  writeFileSync(join(folder, `${version}.json.zst`), zstdCompressSync(document, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }));
}

/** The path of a folder that was given on the command line. */
const given = (folder) => resolve(process.env.INIT_CWD ?? "", folder);

const isReleased = (changelog, version) => changelog.includes(`\n## ${version} (`);

/**
 * Publishes all packages: those of a folder with the files of a release, or else built here. Throws when they differ in version, or when
 * CHANGELOG.md does not have it.
 */
async function publish(root, { folder, dryRun, tag, provenance, stage }) {
  const versions = new Set(PUBLISHED.map((name) => readJson(join(root, "packages", name, "package.json")).version));
  const [version] = versions;
  if (versions.size !== 1) throw new Error(`The packages differ in version: ${[...versions].join(", ")}.`);
  const named = isReleased(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version);
  if (tag === "latest" && !dryRun && !named) throw new Error(`CHANGELOG.md has no entry ${version}: npm run release -- version …`);
  const { packageFile } = await import("../packaging/release/packages.mjs");
  if (folder === undefined) execFileSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
  const command = stage ? ["stage", "publish"] : ["publish"];
  const options = [`--tag=${tag}`, ...(provenance && !dryRun ? ["--provenance"] : []), ...(dryRun ? ["--dry-run"] : [])];
  for (const name of PUBLISHED) {
    const at = { cwd: join(root, "packages", name), encoding: "utf8" };
    const files = folder === undefined ? [] : [join(folder, packageFile(name, version))];
    const { status } = spawnSync("npm", [...command, ...files, ...options], { ...at, stdio: "inherit" });
    if (status === 0) continue;
    // A publication that failed halfway is repeated: what is there already stays.
    const { name: published } = readJson(join(at.cwd, "package.json"));
    if (spawnSync("npm", ["view", `${published}@${version}`, "version"], at).stdout?.trim() !== version)
      throw new Error(`${published} was not published. Run the same command again after the repair.`);
    console.error(`${published}@${version} is published already.`);
  }
}

/** Makes the files of other channels and the checksums anew, from all files of a folder, such as those of several machines. */
async function makeChannels(root, folder) {
  const [{ writeChannels }, { checksums }] = await Promise.all([
    import("../packaging/release/channels.mjs"),
    import("../packaging/release/checksums.mjs"),
  ]);
  const epoch = execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }).trim();
  await writeChannels(folder, readJson(join(root, "packages/cli/package.json")).version, epoch);
  await checksums.make({ out: folder });
}

/** Checks the artefacts of a release. Throws when one of them fails. */
async function check(root, folder, only) {
  const { checkRelease } = await import("../packaging/release/check.mjs");
  const { releaseFolder } = await import("../packaging/release/build.mjs");
  const { version } = readJson(join(root, "packages/cli/package.json"));
  const where = folder ? given(folder) : releaseFolder(root, version);
  if (!existsSync(where)) throw new Error(`${where} is not there. npm run release -- build makes it.`);
  const failed = await checkRelease({ folder: where, version, root, ...(only && { only: only.split(",") }) });
  if (failed > 0) throw new Error("This is not a release to publish: see the lines that begin with FAILED.");
}

async function main() {
  const root = fileURLToPath(new URL("../", import.meta.url));
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      "dry-run": { type: "boolean" },
      tag: { type: "string", default: "latest" },
      provenance: { type: "boolean", default: true },
      only: { type: "string" },
      stage: { type: "boolean", default: false },
    },
  });
  const [command, argument = ""] = positionals;
  if (command === "version") {
    writeVersion(root, argument, new Date().toISOString().slice(0, 10));
    execFileSync(process.execPath, [join(root, "scripts/generate.mjs")], { stdio: "inherit" });
    keepApi(root, argument);
  } else if (command === "publish") {
    const { tag, provenance, stage } = values;
    await publish(root, { folder: argument ? given(argument) : undefined, dryRun: values["dry-run"] === true, tag, provenance, stage });
  } else if (command === "channels" && argument !== "") {
    await makeChannels(root, given(argument));
  } else if (command === "check") {
    await check(root, argument, values.only);
  } else if (command === "build" || (command === undefined && values["dry-run"])) {
    const { buildRelease } = await import("../packaging/release/build.mjs");
    await buildRelease(root);
    if (command === undefined) await check(root, "", undefined);
  } else throw new Error("Say what to do: version X.Y.Z, build, check, channels FOLDER, publish, or --dry-run.");
}

if (resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  // Exit handlers remove started processes and temporary files.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
  try {
    await main();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
