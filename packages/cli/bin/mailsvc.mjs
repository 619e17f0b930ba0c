#!/usr/bin/env node
// Older versions of Node crash in the database driver, so they are told before anything is loaded.
import { readFileSync } from "node:fs";

const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const minimum = engines.node.replace(">=", "");
const [leastMajor, leastMinor] = minimum.split(".").map(Number);
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  console.error(`mailsvc needs Node ${minimum} or newer; this is ${process.version}.`);
  process.exitCode = 2;
} else {
  await import("../dist/main.js");
}
