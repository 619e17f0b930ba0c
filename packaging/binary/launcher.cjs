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
  const addon = require("./addon.cjs");
  // A server needs its cache and the driver at once: other threads unpack them while this one reads the program, 10 ms each.
  const cache = REHEARSAL ? undefined : serves ? unpackCache() : asset("cli.cache");
  const driver = serves ? addon.unpack(asset) : undefined;
  const source = asset("app.js").latin1Slice();
  const fromFile = createRequire(process.execPath);
  const load = (id) => (id === "mailsvc:addon" ? addon.create(asset) : fromFile(id));
  const module = { exports: {} };
  const compile = (cachedData) => {
    const script = new Script(source, { filename: "mailsvc.js", cachedData });
    if (REHEARSAL) process.on("exit", () => writeFileSync(process.env.CODE_CACHE, script.createCachedData()));
    return script.runInThisContext();
  };
  Promise.all([Promise.resolve(cache).then(compile), driver]).then(([run]) =>
    run(module.exports, load, module, pathToFileURL(process.execPath).href),
  );
}

/** The code of a server: it is 4 MB, of which 1.3 are stored. A command starts often, so its own is stored as it is. */
function unpackCache() {
  // In one chunk: after each, the unpacking would wait until this thread is free.
  const whole = { chunkSize: 8 * 2 ** 20 };
  return new Promise((done, failed) => {
    require("node:zlib").zstdDecompress(asset("serve.cache.zst"), whole, (error, bytes) => (error ? failed(error) : done(bytes)));
  });
}

/** A file of the build, as a Buffer. */
function asset(name) {
  if (REHEARSAL) return readFileSync(join(dirname(process.argv[1]), name));
  return Buffer.from(require("node:sea").getRawAsset(name));
}
