import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix, win32 } from "node:path";
import { type ConfigFile, type Host, type Profile, SETTING_KEYS } from "../types.ts";
import { usageError } from "./errors.ts";
export const DEFAULT_PROFILE = "default";
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Validates a profile name. Throws CliError. */
export function parseProfileName(name: string): string {
  if (!NAME.test(name) || name === "__proto__") throw usageError(`"${name}" is not a profile name. Use 1 to 64 letters, digits, _ . and -`);
  return name;
}

/** The path of the config file: MAILSVC_CONFIG, else %APPDATA% on Windows, else XDG_CONFIG_HOME or ~/.config. */
export function getConfigPath(host: Pick<Host, "env" | "platform" | "home">): string {
  const { env, platform, home } = host;
  if (env["MAILSVC_CONFIG"]) return env["MAILSVC_CONFIG"];
  if (platform === "win32") return win32.join(env["APPDATA"] || win32.join(home, "AppData", "Roaming"), "mailsvc", "config.json");
  const xdg = env["XDG_CONFIG_HOME"];
  // The XDG specification says to ignore a relative path.
  return posix.join(xdg && posix.isAbsolute(xdg) ? xdg : posix.join(home, ".config"), "mailsvc", "config.json");
}

/** Reads the config file; a missing file is an empty one. Throws CliError when it cannot be read or parsed. */
export function readConfigFile(path: string): ConfigFile {
  try {
    return parse(path, readFileSync(path, "utf8"));
  } catch (error) {
    if (findErrorCode(error) === "ENOENT" || findErrorCode(error) === "ENOTDIR") return { profile: DEFAULT_PROFILE, profiles: {} };
    if (findErrorCode(error) !== null) throw invalidConfigError(path, `${findErrorCode(error)}.`);
    throw error;
  }
}

/** Writes the config file atomically; only its owner may read it (file 0600, directory 0700). Throws CliError. */
export function writeConfigFile(path: string, config: ConfigFile): void {
  const dir = dirname(path);
  let folder: string | undefined;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    folder = mkdtempSync(join(dir, ".config-"));
    const temporary = join(folder, "config.json");
    writeFileSync(temporary, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
    renameSync(temporary, path);
  } catch (error) {
    throw usageError(`The config file ${path} cannot be written (${findErrorCode(error) ?? "failed"}).`, {
      code: "config_unwritable",
      hint: "Choose another path with MAILSVC_CONFIG.",
    });
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** True when other users of this machine can read the file and its keys. Always false on Windows, which has no mode bits. */
export function isExposed(path: string, platform: NodeJS.Platform): boolean {
  if (platform === "win32") return false;
  try {
    return (statSync(path).mode & 0o077) !== 0;
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalidConfigError(path: string, why: string) {
  return usageError(`The config file ${path} cannot be used: ${why}`, {
    code: "config_invalid",
    hint: "Correct it, or delete it and log in again.",
    next: "mailsvc login",
  });
}

function parse(path: string, text: string): ConfigFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidConfigError(path, "it is not JSON.");
  }
  if (!isRecord(value) || !isRecord(value["profiles"])) throw invalidConfigError(path, "profiles is missing.");
  const profiles: Record<string, Profile> = {};
  for (const [name, entry] of Object.entries(value["profiles"])) {
    if (!NAME.test(name) || !isRecord(entry)) throw invalidConfigError(path, `profile "${name}" is malformed.`);
    const profile: Profile = {};
    for (const key of SETTING_KEYS) {
      const setting = entry[key];
      if (setting === undefined) continue;
      if (typeof setting !== "string") throw invalidConfigError(path, `${key} of profile "${name}" is not a string.`);
      profile[key] = setting;
    }
    profiles[name] = profile;
  }
  return { profile: typeof value["profile"] === "string" ? value["profile"] : DEFAULT_PROFILE, profiles };
}

function findErrorCode(error: unknown): string | null {
  return (error as NodeJS.ErrnoException).code ?? null;
}
