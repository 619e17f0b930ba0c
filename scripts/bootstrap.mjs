#!/usr/bin/env node
// Runs a target of this repository on the Node it pins, installing first when needed:
//
//   node scripts/bootstrap.mjs start            the demo: scripts/start.mjs
//   node scripts/bootstrap.mjs test [args]      build, lint, types, tests: scripts/test.mjs
//   node scripts/bootstrap.mjs <file> [args]    any script
//
// It runs on any Node that `engines` of package.json allows: no imports beyond Node's own, and no newer syntax.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const windows = process.platform === "win32";
const pinnedNode = join(modules, "node", "bin", windows ? "node.exe" : "node");

const readJson = (file) => {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
};

/**
 * Lists the packages of package-lock.json that are not installed in their locked version, also those in a node_modules of a
 * workspace. Optional packages may be absent.
 */
const listMissing = () => {
  const wanted = readJson(join(root, "package-lock.json"));
  if (!wanted) return ["package-lock.json"];
  return Object.entries(wanted.packages)
    .filter(([path, entry]) => path.includes("node_modules/") && !(entry.link || entry.optional || entry.devOptional || entry.peer))
    .filter(([path, entry]) => readJson(join(root, path, "package.json"))?.version !== entry.version)
    .map(([path]) => path);
};

const installed = () => existsSync(pinnedNode) && listMissing().length === 0;

/** Runs a command until it ends. Returns its exit code, 128 + n when signal n ended it. */
const run = (command, args, options) =>
  new Promise((done, failed) => {
    const child = spawn(command, args, { cwd: root, stdio: "inherit", ...options });
    // A terminal sends Ctrl-C to the child as well; do not send it twice.
    const onInterrupt = () => process.stdin.isTTY || child.kill("SIGINT");
    const onTerminate = () => child.kill("SIGTERM");
    const onHangUp = () => child.kill("SIGHUP");
    process.on("SIGINT", onInterrupt).on("SIGTERM", onTerminate).on("SIGHUP", onHangUp);
    // npm runs this through a shell that exits on SIGTERM without forwarding it: exit when the parent is gone.
    const parent = process.ppid;
    const watch = setInterval(() => process.ppid === parent || child.kill("SIGTERM"), 500);
    const end = () => {
      clearInterval(watch);
      process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate).off("SIGHUP", onHangUp);
    };
    child.on("error", (error) => {
      end();
      failed(error);
    });
    child.on("exit", (code, signal) => {
      end();
      done(signal ? 128 + (constants.signals[signal] || 0) : code);
    });
  });

const install = () => {
  const flags = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  console.error("Installing what package-lock.json lists (npm ci) …");
  // npm's output goes to stderr: stdout belongs to the target.
  const stdio = ["inherit", 2, "inherit"];
  const npm = process.env.npm_execpath;
  return npm && /\.[cm]?js$/.test(npm) ? run(process.execPath, [npm, ...flags], { stdio }) : run("npm", flags, { stdio, shell: windows });
};

const targets = { start: "scripts/start.mjs", test: "scripts/test.mjs" };

const main = async () => {
  const [target, ...args] = process.argv.slice(2);
  if (target === undefined) {
    console.error("Usage: node scripts/bootstrap.mjs start | test | <file> [arguments]");
    return 2;
  }
  const least = Number(readJson(join(root, "package.json"))?.engines.node.replace(">=", ""));
  if (Number.parseInt(process.versions.node, 10) < least) {
    console.error(`Node ${least} or newer is needed to install; this is ${process.version}.`);
    return 2;
  }
  const file = resolve(root, targets[target] || target);
  if (!existsSync(file)) {
    console.error(`${file} not found.`);
    return 2;
  }
  if (!installed()) {
    const code = await install();
    if (code !== 0) {
      console.error("The installation failed; see npm's messages above. Run npm ci to try again.");
      return code;
    }
    if (!existsSync(pinnedNode)) {
      console.error(`npm did not install Node at ${pinnedNode}. Run npm ci without --ignore-scripts.`);
      return 1;
    }
  }
  const key = Object.keys(process.env).find((name) => name.toUpperCase() === "PATH") || "PATH";
  const path = [join(modules, ".bin"), process.env[key]].filter(Boolean).join(delimiter);
  return run(pinnedNode, [file, ...args], { env: { ...process.env, [key]: path } });
};

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    console.error(error.message);
    process.exitCode = 1;
  },
);
