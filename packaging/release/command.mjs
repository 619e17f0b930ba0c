// Commands of other programs, and what the maker and the checks of a release share about them.
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const LAST_LINES = 25;

/** Runs a program to its end. Returns what it wrote to stdout; throws with the end of all it wrote when it fails. */
export async function run(command, args, options = {}) {
  try {
    const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 1e9, ...options });
    return stdout;
  } catch (error) {
    const said = `${error.stdout ?? ""}${error.stderr ?? ""}`.trimEnd().split("\n").slice(-LAST_LINES).join("\n");
    const how =
      error.code === "ENOENT" ? "was not found" : error.signal ? `was ended by ${error.signal}` : `ended with exit code ${error.code}`;
    throw new Error(`${[command, ...args].join(" ")} ${how}.${said ? `\n${said}` : ""}`);
  }
}

/** The first folder of PATH, or of those of administrators, that has this program; null when none has. */
export function findProgram(name) {
  for (const folder of [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"]) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Perhaps in the next one.
    }
  }
  return null;
}

/** Does something when this process ends early, as by Ctrl-C. Returns a function that takes it back. */
export function atExit(work) {
  process.on("exit", work);
  return () => process.off("exit", work);
}

/** Waits until something holds, two minutes at most. Throws with what was waited for, and with what `said` returns. */
export async function until(what, holds, said = () => "") {
  for (const end = performance.now() + 120_000; !(await holds()); await sleep(50))
    if (performance.now() > end) throw new Error(`Waited two minutes for ${what}.\n${said()}`);
}

/** The environment without what belongs to this checkout and to the npm that runs this: its user's settings stay. */
export function ownEnvironment() {
  const other = /^(?:MAILSVC|VITEST|NODE_(?:OPTIONS|ENV|PATH)|GIT_DIR|INIT_CWD|npm_(?!config_)|npm_config_local_prefix)/;
  const inherited = Object.entries(process.env).filter(([name]) => !other.test(name));
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return { ...Object.fromEntries(inherited), PATH: [dirname(process.execPath), ...path, "/usr/sbin", "/sbin"].join(delimiter) };
}

/** The environment of somebody who has no checkout, and no settings of npm either: `home` is their home, with npm's cache. */
export function cleanEnvironment(home) {
  const inherited = Object.entries(ownEnvironment()).filter(([name]) => !/^npm_/i.test(name));
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    NO_COLOR: "1",
    npm_config_userconfig: join(home, ".npmrc"),
    npm_config_cache: join(home, ".npm"),
    npm_config_update_notifier: "false",
  };
}

/**
 * Packs files of a folder; those who pack the same files at the same commit get the same bytes. `file` ends in .tar.gz or .tar.xz.
 *
 * @param epoch the time of all entries, seconds since 1970
 */
export async function pack(folder, names, file, epoch) {
  // The blocks of xz depend on its level, not on the machine, as long as there is more than one thread.
  const compressor = file.endsWith(".xz") ? "xz -6 -T2" : "gzip -n -9";
  const same = ["--sort=name", `--mtime=@${epoch}`, "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rwX,go+rX,go-w"];
  await run("tar", [`--use-compress-program=${compressor}`, "-cf", file, ...same, "-C", folder, ...names]);
}
