import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

test("a world that nobody disposes of leaves no folder behind when the process exits", () => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-exit-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = fileURLToPath(new URL("../../../..", import.meta.url));
  const script =
    'const { createWorld } = await import("@mailsvc/server/testing"); await createWorld(); await createWorld(); process.exit(0);';
  execFileSync(process.execPath, ["--import", join(root, "scripts/sources.mjs"), "--input-type=module", "--eval", script], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder },
  });
  expect(readdirSync(folder)).toEqual([]);
});
