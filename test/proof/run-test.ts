import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { KillRecord } from "../support/kills.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
const LAST_LINES = 40;

interface TestRun {
  /** Project of the test in vitest.config.ts. */
  readonly project: "unit" | "e2e";
  readonly file: string;
  /** Part of the names of the tests to run; all of the file without it. */
  readonly named?: string;
  /** Variables by which the test is steered. */
  readonly env: Readonly<Record<string, string>>;
}

/** Result of a test file that was run by itself. */
interface TestEnd {
  /** Failure in words, with the end of the output; none when all passed. */
  readonly failures: readonly string[];
  /** Counts that it gave to `recordCounts`, added up. */
  readonly counts: Readonly<Record<string, number>>;
  /** Records that it gave to `recordKills`. */
  readonly kills: readonly KillRecord[];
}

/** Runs the tests of one file in a process of their own. */
export async function runTest({ project, file, named, env }: TestRun): Promise<TestEnd> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-proof-"));
  try {
    const files = { KILL_RECORDS: join(folder, "kills"), PROOF_COUNTS: join(folder, "counts") };
    const args = ["run", "--project", project, file, ...(named === undefined ? [] : ["-t", named])];
    const child = spawn(process.execPath, [VITEST, ...args], {
      cwd: ROOT,
      env: { ...process.env, NO_COLOR: "1", ...files, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    const counts: Record<string, number> = {};
    for (const line of readLines<Record<string, number>>(files.PROOF_COUNTS))
      for (const [name, n] of Object.entries(line)) counts[name] = (counts[name] ?? 0) + n;
    const steered = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const failures = code === 0 ? [] : [`${[...steered, file].join(" ")}: ${output.split("\n").slice(-LAST_LINES).join("\n")}`];
    return { failures, counts, kills: readLines<KillRecord>(files.KILL_RECORDS) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readLines<T>(file: string): T[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return lines.map((line) => JSON.parse(line) as T);
}
