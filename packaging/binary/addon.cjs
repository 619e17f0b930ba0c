// Loads the SQLite driver of the single binary. Linux loads native code only from a file, so the driver is written to one without
// a name, which no other process can change and which is gone when this process ends.
const fs = require("node:fs");
const { randomBytes } = require("node:crypto");
const { tmpdir } = require("node:os");
const { join } = require("node:path");

// From <fcntl.h>: Node has no name for it. __O_TMPFILE | O_DIRECTORY.
const O_TMPFILE = 0o20200000;

// More than the driver has. After each chunk, of 16 KB by default, the unpacking would wait until this thread is free: 20 ms of a start.
const WHOLE = { chunkSize: 4 * 2 ** 20 };

let created;
let unpacked;

/** Everything the program asks of the driver. `asset` reads a file of the build. */
exports.create = (asset) => {
  created ??= makeDriver(asset);
  return created;
};

/** Unpacks the driver on another thread, for a program that will use it. Otherwise its first use does. */
exports.unpack = (asset) =>
  new Promise((done, failed) => {
    require("node:zlib").zstdDecompress(asset("addon.zst"), WHOLE, (error, bytes) => {
      unpacked = bytes;
      if (error) failed(error);
      else done();
    });
  });

function makeDriver(asset) {
  let loaded;
  const load = () => {
    loaded ??= openAddon(unpacked ?? require("node:zlib").zstdDecompressSync(asset("addon.zst"), WHOLE));
    unpacked = undefined;
    return loaded;
  };
  return {
    addon: () => load().addon,
    driverExpression: () => {
      const { path } = load();
      const text = asset("driver.js").latin1Slice();
      return `${text}((() => { const module = { exports: {} }; process.dlopen(module, ${JSON.stringify(path)}); return module.exports; })())`;
    },
  };
}

function openAddon(bytes) {
  const failures = [];
  for (const folder of candidates()) {
    try {
      const fd = openNameless(folder);
      for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
      // It stays open as long as the process: the checkpoint thread loads the same file.
      const path = `/proc/self/fd/${fd}`;
      const module = { exports: {} };
      process.dlopen(module, path);
      return { addon: module.exports, path };
    } catch (error) {
      failures.push(`${folder}: ${error.message}`);
    }
  }
  throw new Error(
    `The SQLite driver needs a folder in which files can be written and executed. Set MAILSVC_TMPDIR to one. Tried:\n  ${failures.join("\n  ")}`,
  );
}

function candidates() {
  const named = [process.env.MAILSVC_TMPDIR, tmpdir(), process.env.XDG_RUNTIME_DIR, "/dev/shm", "/var/tmp", process.cwd()];
  return [...new Set(named.filter(Boolean))];
}

/** Opens a file without a name; where the file system cannot, one with a random name that is removed at once. */
function openNameless(folder) {
  try {
    return fs.openSync(folder, O_TMPFILE | fs.constants.O_RDWR, 0o600);
  } catch (error) {
    if (!["EOPNOTSUPP", "EISDIR", "EINVAL", "ENOENT"].includes(error.code)) throw error;
    const file = join(folder, `.mailsvc-${randomBytes(12).toString("hex")}`);
    const fd = fs.openSync(file, "wx+", 0o600);
    fs.unlinkSync(file);
    return fd;
  }
}
