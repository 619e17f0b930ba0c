// The checksums of all other artefacts.
import { createHash } from "node:crypto";
import { createReadStream, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { run } from "./command.mjs";

const FILE = "SHA256SUMS";

export const checksums = {
  name: "checksums",
  files: () => [FILE],
  needs: { sha256sum: "coreutils" },

  async make({ out }) {
    const lines = [];
    for (const name of listOthers(out)) {
      const hash = createHash("sha256");
      await pipeline(createReadStream(join(out, name)), hash);
      lines.push(`${hash.digest("hex")}  ${name}\n`);
    }
    writeFileSync(join(out, FILE), lines.join(""));
  },

  async check({ folder, ok }) {
    const named = [...readFileSync(join(folder, FILE), "utf8").matchAll(/^[0-9a-f]{64} {2}(.+)$/gm)].map(([, name]) => name);
    const unnamed = listOthers(folder).filter((name) => !named.includes(name));
    if (unnamed.length > 0) throw new Error(`${FILE} does not name ${unnamed.join(", ")}.`);
    await run("sha256sum", ["--check", "--strict", "--quiet", FILE], { cwd: folder, env: { PATH: process.env.PATH, LC_ALL: "C" } });
    ok(`sha256sum --check: ${named.length} files, and no other file is there`);
  },
};

const listOthers = (folder) =>
  readdirSync(folder)
    .filter((name) => name !== FILE)
    .sort();
