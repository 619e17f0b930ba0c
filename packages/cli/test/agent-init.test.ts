import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { cli, folder } from "./harness.ts";

const run = promisify(execFile);

/** Packages without code, but with the names, versions and dependencies of ours, packed as npm does. */
async function pack(dir: string): Promise<void> {
  const dependencies: Record<string, Record<string, string>> = {
    "@mailsvc/sdk": {},
    "@mailsvc/agent-kit": {},
    "@mailsvc/server": { "@mailsvc/sdk": "0.1.0" },
    mailsvc: { "@mailsvc/server": "0.1.0" },
  };
  for (const [name, own] of Object.entries(dependencies)) {
    const source = join(dir, "sources", name);
    mkdirSync(source, { recursive: true });
    writeFileSync(join(source, "package.json"), JSON.stringify({ name, version: "0.1.0", dependencies: own }));
    await run("npm", ["pack", "--silent", "--pack-destination", dir], { cwd: source });
  }
}

test("agent init --packages makes a project that npm installs without asking a registry for our packages", async () => {
  const cwd = folder();
  await pack(cwd);
  const { code } = await cli(["agent", "init", "agents/my-agent", "--packages", "."], { cwd });
  expect(code).toBe(0);
  const project = join(cwd, "agents/my-agent");
  const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  expect(manifest.dependencies).toEqual({ "@mailsvc/agent-kit": "file:../../mailsvc-agent-kit-0.1.0.tgz" });
  expect(manifest.devDependencies).toMatchObject({ vitest: expect.any(String), mailsvc: "file:../../mailsvc-0.1.0.tgz" });
  // Packages of others come from the registry, which is not available here.
  delete manifest.devDependencies.vitest;
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install", "--registry", "http://127.0.0.1:9", "--no-audit", "--no-fund", "--cache", join(cwd, "cache")], {
    cwd: project,
  });
  for (const name of ["@mailsvc/agent-kit", "@mailsvc/server", "@mailsvc/sdk", "mailsvc"])
    expect(existsSync(join(project, "node_modules", name, "package.json")), name).toBe(true);
});

test("agent init --packages names the tarballs that are missing, and writes nothing", async () => {
  const cwd = folder();
  await pack(cwd);
  rmSync(join(cwd, "mailsvc-sdk-0.1.0.tgz"));
  expect(await cli(["agent", "init", "my-agent", "--packages", "."], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("has no mailsvc-sdk-0.1.0.tgz."),
  });
  expect(existsSync(join(cwd, "my-agent"))).toBe(false);
});

test("agent init says what a 404 of npm means", async () => {
  const { stdout } = await cli(["agent", "init", "my-agent"], { cwd: folder(), tty: { stdout: true } });
  expect(stdout).toContain("If npm answers 404, this version is not published yet: use --packages DIR.");
});
