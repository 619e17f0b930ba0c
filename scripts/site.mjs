// Builds the documentation as a static site, or serves it while you write it:
//
//   npm run docs:build     writes build/site, for any web server that serves files
//   npm run docs:dev       serves it on this machine and follows changes
//
// The generator, VitePress, has its own packages in site/, so that nobody else installs its 100 MB. They are installed here when
// they are missing or package-lock.json is newer.
import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const site = join(root, "site");
const modules = join(site, "node_modules");

const run = (command, args, cwd) =>
  new Promise((done, failed) => {
    const child = spawn(command, args, { cwd, stdio: ["inherit", 2, "inherit"], shell: process.platform === "win32" && command === "npm" });
    child.on("error", failed);
    child.on("exit", (code, signal) => done(signal ? 1 : code));
  });

const installed = () => {
  const record = join(modules, ".package-lock.json");
  return existsSync(record) && statSync(record).mtimeMs >= statSync(join(site, "package-lock.json")).mtimeMs;
};

const main = async () => {
  const [command, ...args] = process.argv.slice(2);
  if (command !== "build" && command !== "dev") {
    console.error("Usage: npm run docs:build | npm run docs:dev");
    return 2;
  }
  if (!installed()) {
    console.error("Installing what site/package-lock.json lists (npm ci) …");
    const code = await run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], site);
    if (code !== 0) return code;
  }
  return run(process.execPath, [join(modules, "vitepress/bin/vitepress.js"), command, site, ...args], root);
};

process.exitCode = await main();
