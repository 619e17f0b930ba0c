import { globSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SERVE_FLAGS } from "@mailsvc/server";
import { expect, test } from "vitest";
import { getConfigPath } from "../packages/cli/src/runtime/config-file.ts";
import { OF_SYSTEM, quietEnvironment, STEERING } from "./support/quiet-environment.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Variables that the packages read, by their sources: `env["NAME"]`, `env.NAME`, `environment("NAME")`, and the twins of flags. */
const listRead = (): Set<string> => {
  const sources = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root }).filter((file) => !/\.test\.|\.generated\./.test(file));
  const names = sources.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/\benv(?:\??\.|\[")([A-Z][A-Z_0-9]+)\b|"(MAILSVC_[A-Z_]+)"/g)].map(
      ([, read, named]) => read ?? named ?? "",
    ),
  );
  return new Set([...names, ...SERVE_FLAGS.map(({ env }) => env)]);
};

test("no variable that a package reads reaches the tests from the machine", () => {
  const read = listRead();
  for (const known of ["MAILSVC_URL", "MAILSVC_API_KEY", "MAILSVC_RELAYS", "NO_COLOR", "CI"]) expect(read).toContain(known);
  // The runner itself sets NODE_ENV. The last one is of Windows, whose programs need it.
  const harmless = new Set(["NODE_ENV", "APPDATA"]);
  expect([...read].filter((name) => (OF_SYSTEM.has(name) || STEERING.has(name)) && !harmless.has(name))).toEqual([]);
});

test("what steers a test reaches it", () => {
  const files = globSync("{test/*.test.ts,test/support/*.ts,packages/{server,cli,dashboard}/test/**/*.ts}", { cwd: root });
  const texts = files.map((file) => readFileSync(join(root, file), "utf8"));
  // Code of users within texts reads variables too, which have no default.
  const reads = /process\.env(?:\["([A-Z_]+)"\]|\.([A-Z_]+) \?\?)/g;
  const asked = new Set(texts.flatMap((text) => [...text.matchAll(reads)].map(([, listed, steering = ""]) => listed ?? steering)));
  for (const known of ["CHROMIUM", "KILLS", "PICTURES", "SCREENSHOTS"]) expect([...asked]).toContain(known);
  // The environment itself sets the others.
  const given = quietEnvironment({}, "/empty");
  expect([...asked].filter((name) => !STEERING.has(name) && !OF_SYSTEM.has(name) && !Object.hasOwn(given, name))).toEqual([]);
});

test("a machine with proxies, profiles, a zone and a language of its own is as any other one", () => {
  const given = {
    ...{ PATH: "/bin", HTTP_PROXY: "http://127.0.0.1:9", https_proxy: "http://127.0.0.1:9", TZ: "Pacific/Auckland", LC_ALL: "C" },
    ...{ MAILSVC_URL: "http://mail.example", XDG_CONFIG_HOME: "/home/ada/.config", HOME: "/home/ada", PGHOST: "db", NODE_OPTIONS: "-r x" },
    ...{ GITHUB_ACTIONS: "true", COLUMNS: "12", FORCE_COLOR: "1", KILLS: "7" },
  };
  const quiet = quietEnvironment(given, "/empty");
  expect(quiet).toMatchObject({ PATH: "/bin", TZ: "UTC", HOME: "/empty", KILLS: "7" });
  const added = ["HOME", "KILLS", "LANG", "MAILSVC_CEILING", "PATH", "TZ", "npm_config_cache", "npm_config_userconfig"];
  expect(Object.keys(quiet).sort()).toEqual(added);
});

test("the tests run in that environment", () => {
  expect(Object.keys(process.env).filter((name) => /^MAILSVC_|proxy/i.test(name))).toEqual(["MAILSVC_CEILING"]);
  expect([new Date(0).getTimezoneOffset(), process.env["TZ"]]).toEqual([0, "UTC"]);
  expect(getConfigPath({ env: process.env, platform: process.platform, home: homedir() })).toContain("mailsvc-home-");
  expect(process.umask()).toBe(0o022);
});
