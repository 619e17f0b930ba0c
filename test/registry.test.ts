import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../packaging/release/command.mjs";
import { startRegistry } from "../packaging/release/registry.ts";
import { freePort } from "./support/free-port.ts";
import { npmEnvironment } from "./support/npm-user.ts";
import { usePublishedPackages } from "./support/published.ts";
import { QUICKSTARTS } from "./support/quickstart-pages.ts";

// Installation of the packages before they are published, as the first pages describe it.

const root = fileURLToPath(new URL("../", import.meta.url));
const FIRST_PAGES = [...QUICKSTARTS.map(([page]) => page), "docs/agent-kit.md"];
const SENTENCE =
  "Nothing is on npm yet: `npm run registry` in a clone of the repository serves the packages on this machine, and after " +
  "`export npm_config_registry=http://127.0.0.1:4873` every command here works as written.";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-newcomer-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("one page says how to get the packages of a clone, and each first page leads there before its first block", () => {
  const read = (page: string): string => readFileSync(join(root, page), "utf8").replaceAll("\n", " ");
  const pages = globSync("{README.md,docs/**/*.md}", { cwd: root });
  expect(pages.filter((page) => read(page).includes(SENTENCE))).toEqual(["docs/installation.md"]);
  for (const page of FIRST_PAGES) expect(read(page).split("```")[0], page).toMatch(/\(\S*installation\.md#before-the-first-release\)/);
});

test.each(["http://npm.example/api/npm/all", "http://npm.example/api/npm/all/"])("the packages of others come from %s", async (others) => {
  await using registry = await startRegistry(join(folder, "others"), { own: ["mailsvc"], others });
  const { status, headers } = await fetch(`${registry.url}/@scope%2Fname`, { redirect: "manual" });
  expect([status, headers.get("location")]).toEqual([302, "http://npm.example/api/npm/all/@scope%2Fname"]);
});

test("a registry that npm uses already is not started again, because it would ask itself for the packages of others", async () => {
  const env = { ...npmEnvironment(folder, folder), npm_config_registry: "http://localhost:4873/" };
  const again = run(process.execPath, [join(root, "scripts/registry.mjs")], { env });
  await expect(again).rejects.toThrow("Unset npm_config_registry in this terminal");
});

test("the packages of a clone are used as if they were published", { timeout: 600_000 }, async () => {
  // The packages of others come from this registry, without a network.
  await usePublishedPackages(folder);
  for (const name of ["home", "project"]) mkdirSync(join(folder, name));
  const env = npmEnvironment(folder, join(folder, "home"));
  const port = await freePort();
  const registry = spawn(process.execPath, [join(root, "scripts/registry.mjs"), "--port", `${port}`], { env });
  try {
    const exported = await new Promise<string | undefined>((found, failed) => {
      let said = "";
      const read = (data: Buffer): void => {
        said += data;
        if (said.includes("Ctrl-C")) found(/export npm_config_registry=(\S+)/.exec(said)?.[1]);
      };
      for (const stream of [registry.stdout, registry.stderr]) stream.on("data", read);
      registry.on("exit", () => failed(new Error(said)));
    });
    expect(exported).toBe(`http://127.0.0.1:${port}`);
    const user = { cwd: join(folder, "project"), env: { ...env, npm_config_registry: exported } };
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    expect(await run("npx", ["--yes", "mailsvc", "--version"], user)).toContain(version);
    await run("npm", ["install", "@mailsvc/sdk"], user);
    const lock = readFileSync(join(folder, "project/package-lock.json"), "utf8");
    expect(lock).toContain(`"resolved": "http://127.0.0.1:${port}/@mailsvc/sdk`);
  } finally {
    registry.kill("SIGTERM");
    if (registry.exitCode === null) await once(registry, "exit");
  }
});
