// Builds this checkout and makes all artefacts of a release from it. `npm run release -- build` runs it in a clean clone:
//
//   node packaging/release/make.mjs FOLDER
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ARTEFACTS } from "./artefacts.mjs";
import { run } from "./command.mjs";
import { step } from "./steps.mjs";

async function main() {
  const out = resolve(process.argv[2] ?? "");
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  const epoch = execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }).trim();
  // Time that dpkg-deb gives its entries.
  process.env.SOURCE_DATE_EPOCH = epoch;
  const work = mkdtempSync(join(tmpdir(), "mailsvc-artefacts-"));
  const place = (name) => {
    mkdirSync(join(work, name));
    return join(work, name);
  };
  try {
    await step("build the packages", () => run(process.execPath, [join(root, "scripts/build.mjs")]));
    for (const artefact of ARTEFACTS)
      await step(`make ${artefact.files(version).length > 1 ? artefact.name : artefact.files(version)[0]}`, () =>
        artefact.make({ root, out, version, epoch, place }),
      );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
