import { execFile } from "node:child_process";
import { cpSync, globSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "./support/server.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** A copy of a built package below the repository, so that the packages outside of it are found; without compiled code. */
function copyOf(name: string): string {
  const copy = mkdtempSync(join(root, "node_modules/.cache/compiled-"));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const from = join(root, "packages", name);
  for (const path of ["dist", "package.json"]) cpSync(join(from, path), join(copy, path), { recursive: true });
  return copy;
}

const bytesIn = (folder: string, pattern: string): number =>
  globSync(pattern, { cwd: folder })
    .map((file) => statSync(join(folder, file)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);

test("a server that ends leaves the compiled code of its program for the next start", async () => {
  const copy = copyOf("server");
  const server = startServer({ data: join(copy, "data"), flags: ["--dev"], program: [process.execPath, join(copy, "dist/main.js")] });
  expect(await server.ready(), server.stderr()).not.toBeNull();
  expect(await server.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  expect(bytesIn(copy, ".compiled/**/*")).toBeGreaterThan(bytesIn(copy, "dist/chunks/joined-*.js") / 3);
});

test("so does the command line, but for --version, which loads nothing", async () => {
  const copy = copyOf("cli");
  const run = (...args: string[]) => promisify(execFile)(process.execPath, [join(copy, "dist/main.js"), ...args], { cwd: copy });
  await run("--version");
  expect(bytesIn(copy, ".compiled/**/*")).toBe(0);
  await run("--help");
  expect(bytesIn(copy, ".compiled/**/*")).toBeGreaterThan(bytesIn(copy, "dist/chunks/joined-*.js") / 3);
});
