// The Debian package.
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ARCHITECTURE } from "../architecture.mjs";
import { assertVersion } from "./binary.mjs";
import { cleanEnvironment, findProgram, run } from "./command.mjs";
import { startProgram, useServer } from "./server.mjs";

const UNIT = "usr/lib/systemd/system/mailsvc.service";
const DATA = "/var/lib/mailsvc";

const fileOf = (version) => `mailsvc_${version}_${ARCHITECTURE}.deb`;

/** Installed files of the package, with their modes. */
const INSTALLED = {
  "usr/bin/mailsvc": 0o755,
  [UNIT]: 0o644,
  "etc/default/mailsvc": 0o600,
  "usr/share/bash-completion/completions/mailsvc": 0o644,
  "usr/share/doc/mailsvc/copyright": 0o644,
  "usr/share/doc/mailsvc/THIRD-PARTY-LICENSES.txt": 0o644,
  "usr/share/doc/mailsvc/mailsvc.cdx.json": 0o644,
};

export const deb = {
  name: "deb",
  files: (version) => [fileOf(version)],
  needs: { "dpkg-deb": "dpkg" },

  async make({ root, out, version }) {
    await run(process.execPath, [join(root, "packaging/deb.mjs")]);
    cpSync(join(root, "build", fileOf(version)), join(out, fileOf(version)));
  },

  async check(context) {
    const { folder, version, place, ok, notTried } = context;
    const file = join(folder, fileOf(version));
    if (findProgram("dpkg") === null) {
      notTried("dpkg is not installed, so nothing can read the package (Debian: apt install dpkg)");
      return;
    }
    const fields = await run("dpkg-deb", ["-f", file, "Package", "Version", "Architecture"]);
    const expected = `Package: mailsvc\nVersion: ${version}\nArchitecture: ${ARCHITECTURE}\n`;
    if (fields !== expected) throw new Error(`${fileOf(version)} says of itself:\n${fields}`);
    const listed = await run("dpkg-deb", ["-c", file]);
    const missing = Object.keys(INSTALLED).filter((path) => !listed.includes(` ./${path}\n`));
    if (missing.length > 0) throw new Error(`${fileOf(version)} does not contain ${missing.join(", ")}.`);
    ok(`dpkg-deb reads its fields and its ${listed.trim().split("\n").length} entries`);
    const system = await install(file, place("system"));
    ok("dpkg --install into an empty root, with its scripts: program, unit, settings and user are there");
    await serveAsUnit(system, context);
    await verifyUnit(system, context);
  },
};

/** Installs a package into a folder as into an empty system, whichever user runs this. */
async function install(file, system) {
  for (const path of ["var/lib/dpkg/updates", "var/lib/dpkg/info", "etc"]) mkdirSync(join(system, path), { recursive: true });
  for (const name of ["status", "available"]) writeFileSync(join(system, "var/lib/dpkg", name), "");
  const forced = ["--force-not-root", "--force-depends", "--force-script-chrootless", "--log=/dev/null"];
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  await run("dpkg", [`--root=${system}`, ...forced, "--install", file], { env });
  for (const [path, mode] of Object.entries(INSTALLED)) {
    if (!existsSync(join(system, path))) throw new Error(`/${path} is missing after the installation.`);
    const found = statSync(join(system, path)).mode & 0o777;
    if (found !== mode) throw new Error(`/${path} has the mode ${found.toString(8)}, not ${mode.toString(8)}.`);
  }
  if (!/^mailsvc:.*nologin$/m.test(readFileSync(join(system, "etc/passwd"), "utf8")))
    throw new Error("The installation made no user mailsvc.");
  return system;
}

/** Starts the installed program as the unit does: with its flags, and settings as variables. */
async function serveAsUnit(system, { version, place, ok }) {
  const unit = readFileSync(join(system, UNIT), "utf8");
  const [program, ...args] = (/^ExecStart=(.+)$/m.exec(unit)?.[1] ?? "")
    .split(" ")
    .map((word) => (word.startsWith("/") ? join(system, word) : word));
  if (!args.includes(join(system, DATA))) throw new Error(`ExecStart of ${UNIT} does not name ${DATA}.`);
  mkdirSync(join(system, DATA), { recursive: true });
  const home = place("home");
  const env = { ...cleanEnvironment(home), PATH: "/usr/bin:/bin" };
  await assertVersion(program, version, env);
  ok("mailsvc --version, as installed");
  await useServer(
    (settings) => startProgram({ command: program, args, cwd: home, env: { ...env, ...settings }, readyFile: join(home, "ready.json") }),
    (text) => ok(`by the flags of its unit: ${text}`),
  );
}

async function verifyUnit(system, { place, ok, notTried }) {
  if (findProgram("systemd-analyze") === null) {
    notTried("systemd-analyze is not installed, so its unit was started by its flags only (Debian: apt install systemd)");
    return;
  }
  const here = join(place("unit"), "mailsvc.service");
  writeFileSync(here, readFileSync(join(system, UNIT), "utf8").replace("/usr/bin/mailsvc", join(system, "usr/bin/mailsvc")));
  await run("systemd-analyze", ["verify", "--man=no", here]);
  ok("systemd-analyze verify accepts its unit");
}
