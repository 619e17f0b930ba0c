import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli, folder, type Setup, TERMINAL } from "./harness.ts";

const NOTE = "Version 9.0.0 is out; this is 0.1.0.";

/** Runs a command that needs no server, with a registry that knows this version. */
const withNewest = (version: string, { answers = true } = {}) => {
  const asked: string[] = [];
  const home = folder();
  const fetch: typeof globalThis.fetch = async (url, init) => {
    asked.push(String(url));
    if (answers) return new Response(JSON.stringify({ version }));
    return new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(new Error("aborted"))));
  };
  const run = (setup: Setup = {}) =>
    cli(["errors"], { home, fetch, tty: TERMINAL, ...setup, env: { MAILSVC_NO_UPDATE_NOTICE: "", ...setup.env } });
  return { asked, home, run };
};

test("a newer version is told once a day, and asked for once a day", async () => {
  const { asked, home, run } = withNewest("9.0.0");
  const start = Date.now();
  const at = (hours: number) => run({ now: () => start + hours * 3_600_000 });
  const told = [await at(0), await at(1), await at(2), await at(23)].map(({ stderr }) => stderr.includes(NOTE));
  expect(told.filter(Boolean)).toHaveLength(1);
  expect(asked).toEqual(["https://registry.npmjs.org/mailsvc/latest"]);
  expect(JSON.parse(readFileSync(join(home, ".config/mailsvc/newest-version.json"), "utf8"))).toMatchObject({ latest: "9.0.0" });
  expect((await at(50)).stderr).toContain(NOTE);
  expect(asked).toHaveLength(2);
});

test.each([
  ["in CI", { env: { CI: "true" } }],
  ["when it is turned off", { env: { MAILSVC_NO_UPDATE_NOTICE: "1" } }],
  ["when stdout is no terminal", { tty: { stderr: true } }],
])("nobody asks %s", async (_, setup) => {
  const { asked, run } = withNewest("9.0.0");
  for (let i = 0; i < 2; i += 1) expect((await run(setup)).stderr).not.toContain(NOTE);
  expect(asked).toEqual([]);
});

test.each(["0.1.0", "0.0.9", "no version"])("version %s is none to tell of", async (version) => {
  const { run } = withNewest(version);
  for (let i = 0; i < 2; i += 1) expect((await run()).stderr).toBe("");
});

test("a registry that does not answer keeps no command waiting", async () => {
  const { asked, run } = withNewest("9.0.0", { answers: false });
  expect(await run()).toMatchObject({ code: 0, stderr: "" });
  expect(asked).toHaveLength(1);
});
