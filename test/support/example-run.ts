import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cleanEnvironment } from "../dev-server.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A change to one file of an example. */
interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Result of `npm test` of an example. */
interface ExampleRun {
  readonly code: number;
  /** Output on stdout and stderr, without colours. */
  readonly output: string;
}

/**
 * Runs `npm test` in a copy of an example, with an edit made to it first. Nothing is left behind. Throws when the text to be replaced is not
 * in the file exactly once.
 */
export async function runExample(example: string, edit?: Edit): Promise<ExampleRun> {
  const folder = mkdtempSync(join(tmpdir(), `${example}-`));
  try {
    cpSync(join(root, "examples", example), folder, { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
    if (edit) applyEdit(folder, edit);
    return await npmTest(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function applyEdit(folder: string, { file, from, to }: Edit): void {
  const path = join(folder, file);
  const parts = readFileSync(path, "utf8").split(from);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times "${from}", not once.`);
  writeFileSync(path, parts.join(to));
}

function npmTest(folder: string): Promise<ExampleRun> {
  // On GitHub a run would add its summary to that of the job that runs this test.
  const { GITHUB_STEP_SUMMARY: _, FORCE_COLOR: __, ...env } = cleanEnvironment();
  return new Promise((done) => {
    const child = execFile("npm", ["test"], { cwd: folder, env: { ...env, NO_COLOR: "1" } }, (_error, stdout, stderr) =>
      done({ code: child.exitCode ?? 1, output: stdout + stderr }),
    );
  });
}
