#!/usr/bin/env node
// Older versions of Node crash in the database driver, so they are told before anything is loaded.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`mailsvc needs Node 22.19 or newer; this is ${process.version}.`);
  process.exitCode = 2;
} else {
  await import("../dist/main.js");
}
