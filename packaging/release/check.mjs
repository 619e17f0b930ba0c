// Checks the artefacts of a release by using them, in empty folders.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ARTEFACTS } from "./artefacts.mjs";
import { atExit } from "./command.mjs";

const NAMES = ARTEFACTS.map(({ name }) => name);
const WIDTH = Math.max(...NAMES.map((name) => name.length));

/**
 * Checks the artefacts in a folder and says what was tried, a line each. Returns how many failed.
 *
 * @param only the names of the kinds to check; all by default
 * @param root the repository, whose package-lock.json the bill of materials is compared with
 * @param say takes each line
 */
export async function checkRelease({ folder, version, root, only = NAMES, say = console.log }) {
  const unknown = only.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: there is no such kind of artefact. There are ${NAMES.join(", ")}.`);
  const counts = { ok: 0, "not tried": 0, FAILED: 0 };
  // The checksums first: what is damaged explains what fails afterwards.
  for (const artefact of ARTEFACTS.toSorted((a, b) => Number(b.name === "checksums") - Number(a.name === "checksums"))) {
    const line = (result) => (text) => {
      counts[result] += 1;
      say(`  ${result.padEnd(9)}  ${artefact.name.padEnd(WIDTH)}  ${text.replaceAll("\n", `\n${" ".repeat(WIDTH + 15)}`)}`);
    };
    if (!only.includes(artefact.name)) line("not tried")("not asked for");
    else
      await checkOne(artefact, { folder, version, root, ok: line("ok"), notTried: line("not tried") }).catch(({ message }) =>
        line("FAILED")(message),
      );
  }
  say(`\n${counts.ok} checks passed, ${counts["not tried"]} not tried, ${counts.FAILED} failed.`);
  return counts.FAILED;
}

async function checkOne(artefact, context) {
  const missing = artefact.files(context.version).filter((file) => !existsSync(join(context.folder, file)));
  if (missing.length > 0) throw new Error(`${missing.join(", ")}: not in ${context.folder}.`);
  const work = mkdtempSync(join(tmpdir(), `mailsvc-check-${artefact.name}-`));
  const place = (name) => {
    mkdirSync(join(work, name));
    return join(work, name);
  };
  const remove = () => rmSync(work, { recursive: true, force: true });
  const stay = atExit(remove);
  try {
    await artefact.check({ ...context, place });
  } finally {
    stay();
    remove();
  }
}
