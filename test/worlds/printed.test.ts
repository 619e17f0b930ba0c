import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Script } from "./script.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A world with much in it that has nothing to do with what fails. */
const SCRIPT: Script = {
  seed: 4,
  database: "sqlite",
  delivery: "captured",
  servers: 1,
  keepDays: null,
  steps: [
    { do: "make", noun: "list", as: "list-0", tenant: "a", seed: 2 },
    { do: "make", noun: "key", as: "key-1", tenant: "a", seed: 3 },
    { do: "pass", by: "30s" },
    { do: "disturb", by: "delete", on: "key-1", seed: 6 },
  ],
};

test("a fault becomes a short test to paste, which fails with the fault and passes without it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-printed-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "script.json"), JSON.stringify(SCRIPT));
  const mutation = "revoked-key-works";
  const found = await run(["scripts/worlds.mjs", "--script", join(folder, "script.json"), "--mutation", mutation], {});
  expect(found.code, found.output).toBe(1);
  const [printed = ""] = /^\/\/ [\s\S]*^\}\);$/m.exec(found.output) ?? [];
  expect(printed).toContain('held("keys", {');
  // The key, and that it was revoked.
  expect(printed.match(/"do":"\w+"/g)).toEqual(['"do":"make"', '"do":"disturb"']);

  const file = `build/worlds/printed-${process.pid}.test.ts`;
  mkdirSync(join(ROOT, "build/worlds"), { recursive: true });
  onTestFinished(() => rmSync(join(ROOT, file)));
  writeFileSync(join(ROOT, file), `import { held } from "../../test/worlds/held.ts";\n\n${printed}\n`);
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--reporter", "verbose", file];
  const broken = await run(vitest, { WORLDS_MUTATION: mutation });
  expect(broken.output).toContain("should not work");
  expect(broken.code).toBe(1);
  const whole = await run(vitest, {});
  expect(whole.code, whole.output).toBe(0);
  expect(whole.output).toContain("holds in a world of 2 steps");
}, 900_000);

async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code, output };
}
