// Makes a release from a clean clone of the last commit.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ARTEFACTS } from "./artefacts.mjs";
import { findProgram, ownEnvironment, run } from "./command.mjs";
import { formatSizes, step } from "./steps.mjs";

const AGAIN = "Repair it, commit, and run the same command again.";

/** The folder of a version's artefacts. */
export const releaseFolder = (root, version) => join(root, "build/release", version);

/**
 * Makes all artefacts of the last commit into `build/release/VERSION`, and shows each step. Returns the folder. Throws at the first step that
 * fails, with the reason and what to do; the clone stays then.
 */
export async function buildRelease(root) {
  await assertCommitted(root);
  assertPrograms();
  const commit = (await run("git", ["rev-parse", "HEAD"], { cwd: root })).trim();
  const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  const out = releaseFolder(root, version);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  console.log(`mailsvc ${version}, commit ${commit.slice(0, 12)}, into ${relative(process.cwd(), out) || "."}\n`);
  const place = mkdtempSync(join(tmpdir(), "mailsvc-release-"));
  const clone = join(place, "mailsvc");
  const env = ownEnvironment();
  try {
    await step("clone the last commit", async () => {
      await run("git", ["clone", "--quiet", "--no-checkout", root, clone], { env });
      await run("git", ["checkout", "--quiet", "--detach", commit], { cwd: clone, env });
    });
    await step("npm ci", () => run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: clone, env }));
    await make(clone, out, env);
  } catch (error) {
    throw new Error(`${error.message}\n\nThe clone is in ${clone}, if you want to look. ${AGAIN}`);
  }
  rmSync(place, { recursive: true, force: true });
  const files = readdirSync(out).sort();
  console.log(`\n${formatSizes(files.map((name) => ({ name, size: statSync(join(out, name)).size })))}\n`);
  return out;
}

/** Throws when a program of the system is missing, before anything is built. */
function assertPrograms() {
  const missing = Object.entries(Object.assign({ git: "git" }, ...ARTEFACTS.map(({ needs }) => needs))).filter(
    ([name]) => findProgram(name) === null,
  );
  if (missing.length === 0) return;
  const lines = missing.map(([name, debian]) => `${name} is not installed (Debian: apt install ${debian}).`);
  throw new Error(`A release cannot be made here:\n${lines.join("\n")}`);
}

/** Throws when a file of the repository has changes that are not committed; says which new files are left out. */
async function assertCommitted(root) {
  const lines = (await run("git", ["status", "--porcelain"], { cwd: root })).split("\n").filter(Boolean);
  const changed = lines.filter((line) => !line.startsWith("??"));
  if (changed.length > 0)
    throw new Error(
      `A release is made of the last commit, and these changes are not in it:\n${changed.join("\n")}\nCommit them, or put them aside with git stash.`,
    );
  const added = lines.map((line) => line.slice(3));
  if (added.length > 0) console.log(`Not part of the release, because git does not know them: ${added.join(", ")}\n`);
}

/** Lets the clone make its artefacts, with its own Node and its own scripts, and shows what they say. */
async function make(clone, out, env) {
  const args = [join(clone, "scripts/bootstrap.mjs"), "packaging/release/make.mjs", out];
  const child = spawn("node", args, { cwd: clone, env, stdio: ["ignore", "inherit", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  const code = await new Promise((done, failed) => child.on("error", failed).on("close", done));
  if (code !== 0) throw new Error(said.trim() || `The clone's make.mjs ended with exit code ${code}.`);
}
