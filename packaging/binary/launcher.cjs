// The script Node starts inside the single binary. The build defines VERSION and REHEARSAL.
const { readFileSync, writeFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { dirname, join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { Script } = require("node:vm");

const args = process.argv.slice(2);

if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  start();
}

function start() {
  const serves = args[0] === "serve" || args[0] === "dev";
  const cache = serves ? "serve.cache" : "cli.cache";
  const addon = require("./addon.cjs");
  // A server needs the driver at once: another thread unpacks it while this one reads the program, 10 ms each.
  const prepared = serves ? addon.unpack(asset) : Promise.resolve();
  const source = asset("app.js").latin1Slice();
  const cachedData = REHEARSAL ? undefined : asset(cache);
  const script = new Script(source, { filename: "mailsvc.js", cachedData });
  if (REHEARSAL) process.on("exit", () => writeFileSync(process.env.CODE_CACHE, script.createCachedData()));
  const fromFile = createRequire(process.execPath);
  const load = (id) => (id === "mailsvc:addon" ? addon.create(asset) : fromFile(id));
  const module = { exports: {} };
  const run = script.runInThisContext();
  prepared.then(() => run(module.exports, load, module, pathToFileURL(process.execPath).href));
}

/** A file of the build, as a Buffer. */
function asset(name) {
  if (REHEARSAL) return readFileSync(join(dirname(process.argv[1]), name));
  return Buffer.from(require("node:sea").getRawAsset(name));
}
