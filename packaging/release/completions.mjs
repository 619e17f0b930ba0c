// The completions of the command line, for those who install neither the Debian package nor by npm.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, findProgram, pack, run } from "./command.mjs";

const nameOf = (version) => `mailsvc-completions-${version}`;
const fileOf = (version) => `${nameOf(version)}.tar.gz`;

/** The file of each shell, as its folder of completions wants it, and a script that says `loaded` when the file can be loaded. */
const SHELLS = {
  bash: { file: "mailsvc.bash", script: '. "$0" && complete -p mailsvc >/dev/null && echo loaded' },
  zsh: { file: "_mailsvc", script: 'autoload -U compinit && compinit -D -u && . "$0" && echo loaded' },
  fish: { file: "mailsvc.fish", script: "source $argv[1]; and complete -c mailsvc >/dev/null; and echo loaded" },
};

export const completions = {
  name: "completions",
  files: (version) => [fileOf(version)],
  needs: {},

  async make({ root, out, version, epoch, place }) {
    const folder = place("completions");
    mkdirSync(join(folder, nameOf(version)));
    for (const [shell, { file }] of Object.entries(SHELLS)) {
      const text = await run(join(root, "build/mailsvc"), ["completion", shell], { env: {} });
      writeFileSync(join(folder, nameOf(version), file), text);
    }
    await pack(folder, [nameOf(version)], join(out, fileOf(version)), epoch);
  },

  async check({ folder, version, place, ok, notTried }) {
    const unpacked = place("unpacked");
    await run("tar", ["-xzf", join(folder, fileOf(version)), "-C", unpacked]);
    const env = cleanEnvironment(place("home"));
    for (const [shell, { file, script }] of Object.entries(SHELLS)) {
      const path = join(unpacked, nameOf(version), file);
      if (!existsSync(path)) throw new Error(`${fileOf(version)} has no ${nameOf(version)}/${file}.`);
      if (findProgram(shell) === null) {
        notTried(`${file}: ${shell} is not installed, so it was not loaded`);
        continue;
      }
      const said = await run(shell, ["-c", script, path], { env });
      if (said.trim() !== "loaded") throw new Error(`${shell} does not load ${file}: ${said}`);
      ok(`${shell} loads ${file}`);
    }
  },
};
