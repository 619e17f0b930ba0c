import { DURATION, durationMs } from "@mailsvc/sdk/contract/facts";
import type { ConfigFile, DevServerFile, Host, SettingFlags, SettingKey, Settings } from "../types.ts";
import { DEFAULT_PROFILE, getConfigPath, parseProfileName, readConfigFile } from "./config-file.ts";
import { searchDevServer } from "./dev-server-file.ts";
import { usageError } from "./errors.ts";

/** The server's default address. */
export const FALLBACK_URL = "http://127.0.0.1:2526";

/** One source of a setting. */
export interface Origin {
  source: "flag" | "env" | "dev" | "profile" | "default";
  /** `--url`, `MAILSVC_URL`, the path of a dev.json, the profile and its file; empty for a default. */
  name: string;
  value: string;
}

const ENV_NAMES: Record<SettingKey | "profile", string> = {
  url: "MAILSVC_URL",
  "api-key": "MAILSVC_API_KEY",
  timeout: "MAILSVC_TIMEOUT",
  profile: "MAILSVC_PROFILE",
};

/** The key of a dev server's builder, which `mailsvc dev -- COMMAND` sets beside that of the brand. */
const BUILDER_KEY = "MAILSVC_BUILDER_API_KEY";

const DEFAULTS: Partial<Record<SettingKey | "profile", string>> = { url: FALLBACK_URL, timeout: "30s", profile: DEFAULT_PROFILE };

/** Lists every source that sets `key`, the one in effect first. Throws CliError for an invalid profile name. */
export function listOrigins(key: SettingKey | "profile", host: Host, flags: SettingFlags): Origin[] {
  const path = getConfigPath(host);
  const file = readConfigFile(path);
  return listCandidates(key, {
    host,
    flags,
    path,
    file,
    profile: getProfileName(host, flags, path, file),
    dev: searchDevServer(host).found,
  });
}

/** Validates a server's address and removes trailing slashes. Throws CliError. */
export function parseServerUrl(text: string, from: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw usageError(`${from}: "${text}" is not a server URL.`, { hint: "Write it in full: http://127.0.0.1:2526" });
  if (url.username || url.password) throw usageError(`${from}: a server URL has no user name or password. Use --api-key for the key.`);
  if (url.search || url.hash) throw usageError(`${from}: a server URL has no ? or #.`);
  return url.href.replace(/\/+$/, "");
}

/** Parses a duration such as `30s`, or plain seconds, into milliseconds. Throws CliError. */
export function parseDuration(text: string, from: string): number {
  const whole = /^\d{1,9}$/.test(text) ? `${text}s` : text;
  if (!DURATION.test(whole)) throw usageError(`${from}: "${text}" is not a duration. Write 500ms, 30s, 15m or 2h.`);
  return durationMs(whole);
}

/**
 * Resolves the settings of this run: flag > environment > running dev server > profile > default. A profile named with
 * --profile wins over the dev server, unless it is one of the dev server's own: builder or brand. Their keys may be in the
 * environment too. A profile's key is only sent to the profile's own server: when --url points at another origin, the key is
 * withheld. With `newProfile` the profile may not exist yet.
 */
export function resolveSettings(host: Host, flags: SettingFlags, newProfile = false): Settings {
  const path = getConfigPath(host);
  const file = readConfigFile(path);
  const profile = getProfileName(host, flags, path, file);
  const asked = findRequestedProfile(host, flags);
  const { found: dev, ignored: ignoredDevFiles } = searchDevServer(host);
  const ofEnvironment = (asked === "builder" || asked === "brand") && Boolean(host.env[BUILDER_KEY]);
  if (!newProfile && asked && !Object.hasOwn(file.profiles, asked) && !dev?.profiles[asked] && !ofEnvironment) {
    const names = Object.keys(file.profiles);
    throw usageError(`Profile "${asked}" not found.`, {
      hint: names.length > 0 ? `Profiles: ${names.join(", ")}` : "There are no profiles yet.",
      next: `mailsvc login --profile ${asked}`,
    });
  }
  const first = (key: SettingKey) => listCandidates(key, { host, flags, path, file, profile, dev })[0];
  const urlFrom = first("url");
  const keyFrom = first("api-key");
  const timeoutFrom = first("timeout");
  const url = parseServerUrl(urlFrom?.value ?? FALLBACK_URL, describeOrigin(urlFrom));
  const home = file.profiles[profile]?.url ?? FALLBACK_URL;
  const foreign = keyFrom?.source === "profile" && URL.canParse(home) && !isSameOrigin(home, url);
  return {
    path,
    file,
    profile,
    url,
    apiKey: keyFrom === undefined || foreign ? undefined : parseKey(keyFrom.value, describeOrigin(keyFrom)),
    operatorKey: host.env["MAILSVC_OPERATOR_KEY"] || (dev && isSameOrigin(dev.url, url) ? (dev.operatorKey ?? undefined) : undefined),
    timeoutMs: parseDuration(timeoutFrom?.value ?? "30s", describeOrigin(timeoutFrom)),
    keyWithheld: foreign
      ? `The key of profile "${profile}" is for ${home} and was not sent to ${url}.`
      : keyFrom === undefined && dev && !isSameOrigin(dev.url, url)
        ? `The key of the dev server in this folder is for ${dev.url} and was not sent to ${url}.`
        : undefined,
    ignoredDevFiles,
  };
}

function findCurrentProfile(file: ConfigFile): string | null {
  return Object.hasOwn(file.profiles, file.profile) ? file.profile : null;
}

/** Everything that decides a setting. */
interface Sources {
  host: Host;
  flags: SettingFlags;
  path: string;
  file: ConfigFile;
  profile: string;
  dev: DevServerFile | null;
}

function listCandidates(key: SettingKey | "profile", sources: Sources): Origin[] {
  const { host, flags, path, file, profile } = sources;
  const flag = flags[key];
  const envName = findEnvName(key, sources);
  const env = host.env[envName];
  const dev = findDevSetting(key, sources);
  const stored = key === "profile" ? findCurrentProfile(file) : (file.profiles[profile]?.[key] ?? null);
  const fallback = DEFAULTS[key];
  return [
    ...(flag !== undefined ? [{ source: "flag" as const, name: `--${key}`, value: flag }] : []),
    ...(env ? [{ source: "env" as const, name: envName, value: env }] : []),
    ...(dev ? [{ source: "dev" as const, name: dev.path, value: dev.value }] : []),
    ...(stored !== null ? [{ source: "profile" as const, name: key === "profile" ? path : `${profile} in ${path}`, value: stored }] : []),
    ...(fallback !== undefined ? [{ source: "default" as const, name: "", value: fallback }] : []),
  ];
}

/** The variable that sets `key`. With the profile `builder` of a dev server, its key has a variable of its own. */
function findEnvName(key: SettingKey | "profile", { host, flags, file }: Sources): string {
  const ofBuilder = key === "api-key" && findRequestedProfile(host, flags) === "builder" && !Object.hasOwn(file.profiles, "builder");
  return ofBuilder && host.env[BUILDER_KEY] ? BUILDER_KEY : ENV_NAMES[key];
}

/** Returns a setting of the running dev server. Its key is for its own address only. */
function findDevSetting(key: SettingKey | "profile", { host, flags, file, dev }: Sources): { value: string; path: string } | null {
  if (!dev || (key !== "url" && key !== "api-key")) return null;
  const asked = findRequestedProfile(host, flags);
  if (asked && Object.hasOwn(file.profiles, asked)) return null;
  if (key === "url") return { value: dev.url, path: dev.path };
  const url = flags.url ?? host.env[ENV_NAMES.url];
  if (url && !isSameOrigin(url, dev.url)) return null;
  return { value: (asked ? dev.profiles[asked]?.apiKey : undefined) ?? dev.apiKey, path: dev.path };
}

function isSameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}

function findRequestedProfile(host: Host, flags: SettingFlags): string | null {
  return flags.profile ?? (host.env[ENV_NAMES.profile] || null);
}

function getProfileName(host: Host, flags: SettingFlags, path: string, file: ConfigFile): string {
  return parseProfileName(listCandidates("profile", { host, flags, path, file, profile: "", dev: null })[0]?.value ?? DEFAULT_PROFILE);
}

/** Validates a key, because it goes into a header. Throws CliError. */
function parseKey(key: string, from: string): string {
  const text = key.trim();
  if (!/^[\x21-\x7e]{1,500}$/.test(text)) throw usageError(`${from}: this is not an API key. A key has letters, digits and _ only.`);
  return text;
}

function describeOrigin(origin: Origin | undefined): string {
  return origin?.source === "profile" ? `profile ${origin.name}` : origin?.name || "default";
}
