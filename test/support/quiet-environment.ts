import { mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { quickFolder } from "../../packages/server/test/quick-folder.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/[\\/]$/, "");

/** Variables by which a developer steers tests. */
export const STEERING: ReadonlySet<string> = new Set([
  ...["AGENT_KILLS", "AUTOMATION_ENTRIES", "CAMPAIGN_RECIPIENTS", "CLUSTER_REQUESTS", "CLUSTER_SEED"],
  ...["CONSENT_SEQUENCES", "CRASH_SEED", "IMPORT_SEED"],
  ...[
    "CHROMIUM",
    "FIGURES",
    "FIREFOX",
    "KILLS",
    "KILL_RECORDS",
    "PICTURES",
    "PROOF_COUNTS",
    "MONTH_DAYS",
    "MONTH_MAILS",
    "PROPERTY_RUNS",
    "PROPERTY_SEED",
    "RECORD_ANSWERS",
    "RESEND_PACKAGE",
    "SCREENSHOTS",
    "TEST_POSTGRES_URL",
    "TURNS",
  ],
  ...["UPGRADE_KILLS", "UPGRADE_SEED", "WORLDS_MUTATION"],
]);

/** Variables that a system needs to find programs, temporary files and certificates, and those of the runner of the tests. */
export const OF_SYSTEM: ReadonlySet<string> = new Set([
  ...["PATH", "USER", "LOGNAME", "SHELL", "TMPDIR", "LD_LIBRARY_PATH", "GOGC", "NODE_ENV", "NODE_EXTRA_CA_CERTS", "VITEST"],
  ...["TEST", "DEBIAN_FRONTEND", "NODE_V8_COVERAGE"],
  ...["SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "USERPROFILE"],
]);

/**
 * The environment that tests get, whatever the machine has: no variables of the service or of others that programs read, such as proxies,
 * a home folder without profiles and settings, UTC, UTF-8. No dev server is found above the clone and the folders of temporary files.
 * npm alone keeps its settings and its cache.
 */
export function quietEnvironment(given: Environment, home: string): Record<string, string> {
  const isKept = (name: string): boolean => OF_SYSTEM.has(name.toUpperCase()) || STEERING.has(name) || name.startsWith("VITEST_");
  const kept = Object.entries(given).filter((entry): entry is [string, string] => isKept(entry[0]) && entry[1] !== undefined);
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    TZ: "UTC",
    LANG: process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8",
    MAILSVC_CEILING: [...new Set([ROOT, tmpdir(), quickFolder()])].join(delimiter),
    npm_config_cache: given["npm_config_cache"] ?? join(homedir(), ".npm"),
    npm_config_userconfig: given["npm_config_userconfig"] ?? join(homedir(), ".npmrc"),
  };
}

/** Runs before all other setups of a run: processes started from here on, those of the tests and all of theirs, inherit what it sets. */
export default function setup(): () => void {
  const home = mkdtempSync(join(tmpdir(), "mailsvc-home-"));
  const quiet = quietEnvironment(process.env, home);
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(quiet, name)) delete process.env[name];
  Object.assign(process.env, quiet);
  process.umask(0o022);
  return () => rmSync(home, { recursive: true, force: true });
}
