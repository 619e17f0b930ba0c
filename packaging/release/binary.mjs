// The program of one file, with the licences of what it contains.
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, pack, run } from "./command.mjs";
import { startProgram, useServer } from "./server.mjs";

const nameOf = (version) => `mailsvc-${version}-linux-${process.arch}`;
const fileOf = (version) => `${nameOf(version)}.tar.xz`;

/** Content of the archive, by the path to which a build writes it. */
const CONTENTS = {
  mailsvc: "build/mailsvc",
  LICENSE: "LICENSE",
  "THIRD-PARTY-LICENSES.txt": "build/THIRD-PARTY-LICENSES.txt",
  "mailsvc.cdx.json": "build/mailsvc.cdx.json",
};

/** Unpacks the program into a folder, and returns its path. */
async function unpackProgram({ folder, version }, into) {
  await run("tar", ["-xf", join(folder, fileOf(version)), "-C", into]);
  for (const name of Object.keys(CONTENTS))
    if (!existsSync(join(into, nameOf(version), name))) throw new Error(`${fileOf(version)} has no ${nameOf(version)}/${name}.`);
  return join(into, nameOf(version), "mailsvc");
}

/** Throws unless a program says that it is of this version. */
export async function assertVersion(program, version, env) {
  const said = (await run(program, ["--version"], { env })).trim();
  if (said !== version) throw new Error(`mailsvc --version says ${said}, not ${version}.`);
}

export const binary = {
  name: "binary",
  files: (version) => [fileOf(version)],
  needs: { tar: "tar", xz: "xz-utils", strip: "binutils" },

  async make({ root, out, version, epoch, place }) {
    await run(process.execPath, [join(root, "packaging/binary/build.mjs")]);
    const folder = place("binary");
    mkdirSync(join(folder, nameOf(version)));
    for (const [name, from] of Object.entries(CONTENTS)) cpSync(join(root, from), join(folder, nameOf(version), name));
    await pack(folder, [nameOf(version)], join(out, fileOf(version)), epoch);
  },

  async check({ folder, version, place, ok }) {
    const program = await unpackProgram({ folder, version }, place("unpacked"));
    const [cwd, home] = [place("empty"), place("home")];
    // No Node is in PATH: it is inside.
    const env = { ...cleanEnvironment(home), PATH: "/usr/bin:/bin" };
    await assertVersion(program, version, env);
    ok("mailsvc --version, from its archive, without Node in PATH");
    const launch = (settings) =>
      startProgram({ command: program, args: ["serve"], cwd, env: { ...env, ...settings }, readyFile: join(home, "ready.json") });
    await useServer(launch, ok);
  },
};
