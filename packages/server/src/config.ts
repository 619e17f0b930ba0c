import { Instant, isLoopbackHost, parseAddress, parseMailbox, toDomain } from "@mailsvc/sdk/contract";
import { type OidcConfig, readOidc } from "./dashboard/oidc-config.ts";
import { readSso, type SsoConfig } from "./dashboard/sso.ts";
import type { RateBucket, Rates } from "./http/rate-limit.ts";
import { type ReleaseConfig, readRelease } from "./inbox/release-config.ts";
import { AllowedHosts } from "./lib/allowed-hosts.ts";
import { PROJECT_FOLDER } from "./lib/folder.ts";
import { type IpNetwork, parseIpNetwork } from "./lib/ip-network.ts";
import { type MasterKeys, parseKey, singleKey } from "./lib/master-keys.ts";
import { perMinute, perSecond, type Rate } from "./lib/rate.ts";
import { MB } from "./lib/units.ts";
import { type McpConfig, readMcp } from "./mcp/config.ts";
import { DEFAULT_RETENTION, type RetentionPolicy } from "./retention/policy.ts";
import { DEV_FLAGS, SERVE_FLAGS } from "./serve-flags.ts";
import { readTracing, type TracingConfig } from "./telemetry/config.ts";

export { DEV_FLAGS, SERVE_FLAGS, type ServeFlag } from "./serve-flags.ts";

export interface Config {
  readonly dev: boolean;
  readonly port: number;
  readonly host: string;
  /** Folder of the SQLite database. */
  readonly data: string;
  /** True if that folder is deleted when the server ends, so that nothing in it needs to survive a power cut. */
  readonly temporary: boolean;
  readonly databaseUrl: string | null;
  /** True if an operator declares that this data is the one to send from, though another installation made it. */
  readonly takeOver: boolean;
  /** Sockets that a supervisor such as systemd holds open for this process, from descriptor 3 on; 0 without one. */
  readonly listenFds: number;
  /** The size of the pool on Postgres. */
  readonly databaseConnections: number;
  readonly smtpUrl: string | null;
  /** The file of relays; null without one. */
  readonly relays: string | null;
  /** The variables that name a database or a relay and are not used, because dev mode takes those from flags only. */
  readonly ignoredVariables: readonly string[];
  /** Keys to sign with, and for which workspaces; without any for the first one. */
  readonly dkim: readonly { domain: string; selector: string; keyFile: string; workspaces?: readonly string[] | "all" }[];
  readonly mailFrom: string;
  /** Name of the first workspace as outsiders see it; null until it is given. */
  readonly name: string | null;
  /** Domains and addresses that the first workspace may send from without proof, in the form senders are stored in. */
  readonly trustedSenders: readonly string[];
  readonly publicUrl: string | null;
  /** The address of tracking links; null for that of the server. */
  readonly trackingUrl: string | null;
  /** The domain of return paths; null for bounces that go to the sender. */
  readonly inboundDomain: string | null;
  /** The domain of reply addresses: the inbound domain, in dev mode one that nobody owns; null when no mail is received. */
  readonly replyDomain: string | null;
  /** Address at which mail to that domain is accepted; null for none. */
  readonly inboundSmtp: { readonly host: string; readonly port: number } | null;
  /** PEM files with the private key and the certificates for STARTTLS there; empty to offer none. */
  readonly inboundTls: readonly string[];
  /** The networks of peers whose mail to the inbound port is believed: SPF is not checked, because they pass on the mail of others. */
  readonly inboundTrust: {
    readonly networks: readonly IpNetwork[];
    /** True if the operator named them. */
    readonly isGiven: boolean;
  };
  /** The networks of proxies that say with the PROXY protocol who connects to the SMTP ports. */
  readonly proxyProtocol: readonly IpNetwork[];
  /** The networks of proxies whose X-Forwarded-For counts. */
  readonly trustedProxies: readonly IpNetwork[];
  /** Addresses at which mail is submitted over SMTP. */
  /** Where Resend's API is served without a prefix; null for nowhere. */
  readonly resend: { readonly host: string; readonly port: number } | null;
  readonly smtp: SmtpConfig;
  readonly rates: Rates;
  /** Days for which records are kept, by their kind. */
  readonly keepDays: RetentionPolicy;
  /** Handling of campaigns whose time passed more than an hour ago. */
  readonly lateCampaigns: "send" | "hold";
  readonly maxBodyBytes: number;
  /** Single sign-on by a trusted proxy; null when it is off. */
  readonly sso: SsoConfig | null;
  /** Single sign-on by a provider of OpenID Connect; null when it is off. */
  readonly oidc: OidcConfig | null;
  /** Hosts of one's own network that webhooks may call; null for none. */
  readonly webhookAllow: AllowedHosts | null;
  /** Open connections at most. */
  readonly maxConnections: number;
  /** Writes are refused below this many free bytes on the disk; 0 never. */
  readonly minFreeBytes: number;
  /** Rights of MCP clients at /mcp; null for none. In dev mode they may do everything. */
  readonly mcp: McpConfig | null;
  /** Addresses to which captured mail may be released; null for none. */
  readonly release: ReleaseConfig | null;
  readonly accessLog: boolean;
  /** Shows agents before the first one is listed. */
  readonly marketplace: boolean;
  /** Address at which metrics are served; null for none. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** The key that encrypts secrets; null for the key stored with the data. */
  readonly secretKeys: MasterKeys | null;
  /** Payments through Stripe; null when they are confirmed by hand. */
  readonly stripe: { readonly key: string; readonly webhookSecret: string; readonly url: string | null } | null;
  /** Traces, by the variables of OpenTelemetry; null when they are off. */
  readonly tracing: TracingConfig | null;
  readonly https: boolean;
  readonly readyFile: string | null;
  /** In dev mode, the folder in which commands and the SDK look for this server; null to be found in `data` only. */
  readonly project: string | null;
  /** Dev mode only: the seed of everything random; null for real randomness. */
  readonly seed: number | null;
  /** Dev mode only: where the clock begins, frozen, ms since 1970; null for the real time. */
  readonly now: number | null;
}

/** Ports that accept mail to be sent over SMTP. */
export interface SmtpConfig {
  /** Address for connections that begin in plain text; null for none. */
  readonly plain: HostPort | null;
  /** Address for connections that begin with TLS; null for none. */
  readonly implicitTls: HostPort | null;
  /** True if another port will do when that of `plain` is taken. */
  readonly anyPort: boolean;
  /** PEM files with the private key and the certificates; empty to offer no STARTTLS. */
  readonly tls: readonly string[];
  /** True if logins are taken without TLS from other machines too. */
  readonly insecureAuth: boolean;
}

interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** An invalid flag or variable. The message names it and says which values are valid. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

export const DEFAULT_PORT = 2526;

/** Port on which dev mode takes mail over SMTP: the one that users of Mailpit, MailHog and MailDev have in their settings. */
const DEV_SMTP_PORT = "1025";

/** Domain of reply addresses in dev mode. `.test` never exists (RFC 2606), so no reply can leave. */
const DEV_REPLY_DOMAIN = "reply.mailsvc.test";

/** Flags by name, as the command line gives them; `true` for a switch. */
export type FlagValues = Readonly<Record<string, string | boolean | undefined>>;

/** Flags whose variable, in a project's environment, often names a part of production: its database, its relays. */
const OF_PRODUCTION: ReadonlySet<string> = new Set<(typeof SERVE_FLAGS)[number]["name"]>(["database-url", "smtp-url", "relays"]);

const KEPT = Object.keys(DEFAULT_RETENTION) as (keyof RetentionPolicy)[];
const MAX_DAYS = 36_500;

/** The places that a configuration is read from. */
interface ConfigSources {
  readonly flags: FlagValues;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly dev: boolean;
  readonly project?: string | null;
  readonly temporary?: boolean;
}

/** Reads the configuration: a flag wins over its variable, a variable over the default. Throws ConfigError. */
export function readConfig({ flags, env, dev, project = null, temporary = false }: ConfigSources): Config {
  const table = [...SERVE_FLAGS, ...DEV_FLAGS];
  // Tests must not mail people, and not empty the database of production.
  const ignored = dev ? table.filter(({ name, env: twin }) => OF_PRODUCTION.has(name) && flags[name] === undefined && env[twin]) : [];
  const value = (name: (typeof table)[number]["name"]): string | undefined => {
    const flag = flags[name];
    if (flag === "") throw new ConfigError(`--${name} needs a value, but the one given is empty.`);
    if (typeof flag === "string") return flag;
    const twin = table.find((f) => f.name === name && !ignored.includes(f))?.env;
    return (twin && env[twin]) || undefined;
  };
  const databaseUrl = value("database-url");
  const smtpUrl = value("smtp-url");
  const releaseRelay = value("release-relay");
  const inboundDomain = readDomain("inbound-domain", value("inbound-domain"));
  const host = value("host") ?? "127.0.0.1";
  if (dev && !isLoopbackHost(host))
    throw new ConfigError(`Dev mode listens on this machine only; ${host} is not a loopback address. Use: mailsvc serve --host ${host}`);
  const config: Config = {
    dev,
    port: integer("port", value("port") ?? String(DEFAULT_PORT), 0, 65_535),
    host: host.replace(/^\[(.*)\]$/, "$1"),
    data: value("data") ?? (dev ? PROJECT_FOLDER : "mailsvc-data"),
    temporary,
    databaseUrl: databaseUrl === undefined ? null : url("database-url", databaseUrl, ["postgres:", "postgresql:"]),
    // By systemd's protocol the number is for the process that is named, and not for its children.
    listenFds: !dev && env["LISTEN_PID"] === String(process.pid) ? integer("LISTEN_FDS", env["LISTEN_FDS"] ?? "0", 0, 100) : 0,
    takeOver: flags["take-over"] === true || value("take-over") === "1",
    databaseConnections: integer("database-connections", value("database-connections") ?? "16", 2, 500),
    smtpUrl: smtpUrl === undefined ? null : url("smtp-url", smtpUrl, ["smtp:", "smtps:"]),
    relays: value("relays") ?? null,
    ignoredVariables: ignored.map((flag) => flag.env),
    dkim: readDkim(value("dkim")),
    mailFrom: readMailFrom(value("mail-from") ?? "mailsvc <no-reply@mailsvc.test>"),
    name: readName(value("name")),
    trustedSenders: readTrustedSenders(value("trust-sender")),
    publicUrl: readBaseUrl("public-url", value("public-url")),
    trackingUrl: readBaseUrl("tracking-url", value("tracking-url")),
    inboundDomain,
    replyDomain: inboundDomain ?? (dev ? DEV_REPLY_DOMAIN : null),
    inboundSmtp: readHostPort("inbound-smtp-port", value("inbound-smtp-port"), host),
    inboundTls: readFiles(value("inbound-smtp-tls")),
    inboundTrust: {
      networks: readNetworks("inbound-trust", value("inbound-trust") ?? LOOPBACK),
      isGiven: value("inbound-trust") !== undefined,
    },
    proxyProtocol: readNetworks("proxy-protocol", value("proxy-protocol")),
    trustedProxies: readNetworks("trust-proxy", value("trust-proxy")),
    resend: readHostPort("resend-port", value("resend-port"), host),
    smtp: readSmtp({
      port: value("smtp-port") ?? (dev ? undefined : "off"),
      tlsPort: value("smtps-port"),
      tls: value("smtp-tls"),
      insecureAuth: flags["smtp-insecure-auth"] === true || value("smtp-insecure-auth") === "1",
      host,
    }),
    rates: readRates(value("rate-limit")),
    keepDays: readKeep(value("keep")),
    lateCampaigns: readLateCampaigns(value("late-campaigns") ?? "hold"),
    maxBodyBytes: integer("max-body", value("max-body") ?? "30", 1, 1000) * MB,
    sso: readSso(value, (message) => {
      throw new ConfigError(message);
    }),
    oidc: readOidc(value, (message) => {
      throw new ConfigError(message);
    }),
    webhookAllow: readAllowedHosts(value("webhook-allow")),
    maxConnections: integer("max-connections", value("max-connections") ?? "10000", 1, 1_000_000),
    minFreeBytes: integer("min-free-disk", value("min-free-disk") ?? "100", 0, 1_000_000_000) * MB,
    mcp: readMcp({ mode: value("mcp"), maxRecipients: value("mcp-max-recipients"), allowTo: value("mcp-allow-to") }, fail),
    release: readRelease(
      releaseRelay === undefined ? null : url("release-relay", releaseRelay, ["smtp:", "smtps:"]),
      value("release-to"),
      fail,
    ),
    marketplace: flags.marketplace === true || value("marketplace") === "1",
    accessLog: flags["access-log"] === true || value("access-log") === "1",
    metrics: readHostPort("metrics", value("metrics"), "127.0.0.1"),
    secretKeys: readSecretKeys(value("secret-key")),
    stripe: readStripe(value("stripe-key"), value("stripe-webhook-secret"), value("stripe-url")),
    tracing: readTracing(env, fail),
    https: flags.https === true || value("https") === "1",
    readyFile: value("ready-file") ?? null,
    project: dev ? project : null,
    seed: dev ? readSeed(value("seed")) : null,
    now: dev ? readNow(value("now")) : null,
  };
  if (config.inboundSmtp !== null && config.inboundDomain === null)
    throw new ConfigError("--inbound-smtp-port needs --inbound-domain, the domain whose mail arrives there.");
  if (config.inboundTls.length > 0 && config.inboundSmtp === null)
    throw new ConfigError("--inbound-smtp-tls needs --inbound-smtp-port, where STARTTLS is then offered.");
  return config;
}

// The peers that are trusted unless flags say otherwise: programs of this machine.
const LOOPBACK = "127.0.0.0/8,::1";

/** The addresses and networks of a flag. One that holds everybody is refused, because it would trust the Internet. */
function readNetworks(flag: string, text: string | undefined): IpNetwork[] {
  if (text === undefined || text.trim() === "none") return [];
  return text.split(",").map((part) => {
    const network = parseIpNetwork(part.trim());
    if (network === null)
      throw new ConfigError(`--${flag} takes addresses and networks such as 10.0.0.2,10.1.0.0/16, or none; "${part}" is neither.`);
    if (network.prefixLength === 0)
      throw new ConfigError(`--${flag} cannot be ${part}, which is everybody. List the proxies or mail servers.`);
    return network;
  });
}

function readAllowedHosts(text: string | undefined): AllowedHosts | null {
  if (text === undefined) return null;
  return new AllowedHosts(text, (part) =>
    fail(`--webhook-allow takes names, addresses and ranges such as hooks.internal, *.svc.cluster.local and 10.0.0.0/8, not "${part}".`),
  );
}

/** Says which variables dev mode does not use, and how to use them. */
export function describeIgnoredVariables({ ignoredVariables }: Pick<Config, "ignoredVariables">): string {
  const flags = SERVE_FLAGS.filter((flag) => ignoredVariables.includes(flag.env)).map((flag) => `--${flag.name}`);
  const many = ignoredVariables.length > 1;
  return `Dev mode ignores ${ignoredVariables.join(" and ")}, because the environment often names production. To use ${many ? "them" : "it"}, pass ${flags.join(" and ")}.`;
}

function fail(message: string): never {
  throw new ConfigError(message);
}

function integer(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new ConfigError(`--${flag} must be a whole number from ${min} to ${max}, not "${text}".`);
  return value;
}

function url(flag: string, text: string, protocols: readonly string[]): string {
  const names = protocols.map((protocol) => `${protocol}//`).join(" or ");
  if (!protocols.some((protocol) => text.toLowerCase().startsWith(protocol))) throw new ConfigError(`--${flag} must begin with ${names}.`);
  if (!URL.canParse(text))
    throw new ConfigError(
      `--${flag} is not a valid URL. Put IPv6 addresses in brackets, as in [::1], and encode special characters of a password, such as %40 for @.`,
    );
  return text;
}

/** The address of this server as people know it, without a trailing slash. */
function readBaseUrl(flag: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  const { origin, pathname, search, hash, username } = new URL(url(flag, text, ["http:", "https:"]));
  // The dashboard and other pages name paths at the root of their host.
  if (!/^\/*$/.test(pathname) || search !== "" || hash !== "" || username !== "")
    throw new ConfigError(`--${flag} names a host that is this server's alone, without a path: ${origin}`);
  return text.replace(/\/+$/, "");
}

function readDomain(flag: string, text: string | undefined): string | null {
  try {
    return text === undefined ? null : toDomain(text);
  } catch (error) {
    throw new ConfigError(`--${flag}: ${(error as Error).message}`);
  }
}

function readSeed(text: string | undefined): number | null {
  return text === undefined ? null : integer("seed", text, 0, 2 ** 31 - 1);
}

function readNow(text: string | undefined): number | null {
  if (text === undefined) return null;
  const parsed = Instant.safeParse(text);
  if (!parsed.success) throw new ConfigError(`--now must be an instant such as 2030-01-31T09:00:00Z, not "${text}".`);
  return Date.parse(parsed.data);
}

function readLateCampaigns(text: string): Config["lateCampaigns"] {
  if (text !== "send" && text !== "hold") throw new ConfigError(`--late-campaigns is send or hold, not "${text}".`);
  return text;
}

function readHostPort(flag: string, text: string | undefined, defaultHost: string): { host: string; port: number } | null {
  if (text === undefined) return null;
  const [, host, port] = /^(?:\[?([^\]]+?)\]?:)?(\d+)$/.exec(text) ?? [];
  if (port === undefined) throw new ConfigError(`--${flag} must be HOST:PORT, such as 127.0.0.1:9464, not "${text}".`);
  return { host: host ?? defaultHost, port: integer(flag, port, 0, 65_535) };
}

interface SmtpFlags {
  /** `off` for none, undefined for that of dev mode. */
  readonly port: string | undefined;
  readonly tlsPort: string | undefined;
  readonly tls: string | undefined;
  readonly insecureAuth: boolean;
  readonly host: string;
}

function readSmtp({ port, tlsPort, tls, insecureAuth, host }: SmtpFlags): SmtpConfig {
  const smtp: SmtpConfig = {
    plain: port === "off" ? null : readHostPort("smtp-port", port ?? DEV_SMTP_PORT, host),
    implicitTls: readHostPort("smtps-port", tlsPort, host),
    anyPort: port === undefined,
    tls: readFiles(tls),
    insecureAuth,
  };
  if (smtp.implicitTls !== null && smtp.tls.length === 0)
    throw new ConfigError("--smtps-port needs --smtp-tls, the private key and the certificates for TLS.");
  if (smtp.plain !== null && !isLoopbackHost(smtp.plain.host) && smtp.tls.length === 0 && !insecureAuth)
    throw new ConfigError(
      `--smtp-port on ${smtp.plain.host} needs --smtp-tls, so that keys are not sent in plain text; --smtp-insecure-auth allows that.`,
    );
  return smtp;
}

function readFiles(text: string | undefined): string[] {
  return text?.split(",").map((file) => file.trim()) ?? [];
}

function readRates(text: string | undefined): Config["rates"] {
  const rates: Record<RateBucket, Rate> = {
    send: perSecond(50_000),
    write: perSecond(50_000),
    read: perSecond(50_000),
    // A program works for one brand here: two calls a second, a message every three, are more than a person can read.
    agent: perMinute(120),
    message: perMinute(20),
    log: perMinute(60),
  };
  for (const part of text?.split(",") ?? []) {
    const [, bucket, n, unit] = /^(send|write|read|agent|message|log)=(\d+)(?:\/(s|min))?$/.exec(part.trim()) ?? [];
    if (bucket === undefined || Number(n) < 1)
      throw new ConfigError(`--rate-limit takes send=N/s, write=N/s, read=N/s, agent=N/min, message=N/min or log=N/min, not "${part}".`);
    const minutes = unit === undefined ? /^(?:agent|message|log)$/.test(bucket) : unit === "min";
    rates[bucket as RateBucket] = minutes ? perMinute(Number(n)) : perSecond(Number(n));
  }
  return rates;
}

function readKeep(text: string | undefined): RetentionPolicy {
  const keep: Record<keyof RetentionPolicy, number | null> = { ...DEFAULT_RETENTION };
  for (const part of text?.split(",") ?? []) {
    const [, name, days] = /^([a-z]+)=(\d{1,6}|forever)d?$/.exec(part.trim()) ?? [];
    const what = KEPT.find((known) => known === name);
    if (what === undefined || days === undefined)
      throw new ConfigError(`--keep takes ${KEPT.map((known) => `${known}=DAYS`).join(", ")} or forever in place of days, not "${part}".`);
    if (days !== "forever" && (Number(days) < 1 || Number(days) > MAX_DAYS))
      throw new ConfigError(`--keep ${what} must be 1 to ${MAX_DAYS} days, or forever.`);
    keep[what] = days === "forever" ? null : Number(days);
  }
  // With a run goes what it logged.
  return { ...keep, logs: keep.runs === null ? keep.logs : Math.min(keep.logs ?? keep.runs, keep.runs) };
}

// The path of the key may hold colons.
const DKIM = /^([^:]+):([^:]+):(.+?)(?::(all|ws_[a-z0-9]+(?:\+ws_[a-z0-9]+)*))?$/;

function readDkim(text: string | undefined): Config["dkim"] {
  return (text?.split(",") ?? []).map((part) => {
    const [, domain, selector, keyFile, signed] = DKIM.exec(part.trim()) ?? [];
    if (!domain || !selector || !keyFile)
      throw new ConfigError(`--dkim takes DOMAIN:SELECTOR:KEYFILE or DOMAIN:SELECTOR:KEYFILE:WORKSPACE+WORKSPACE, not "${part}".`);
    if (signed === undefined) return { domain, selector, keyFile };
    return { domain, selector, keyFile, workspaces: signed === "all" ? "all" : signed.split("+") };
  });
}

function readStripe(key: string | undefined, webhookSecret: string | undefined, place: string | undefined): Config["stripe"] {
  if (key === undefined && webhookSecret === undefined) return null;
  if (key === undefined || webhookSecret === undefined)
    throw new ConfigError("--stripe-key and --stripe-webhook-secret go together: without the secret no payment could be believed.");
  for (const [flag, value] of [
    ["stripe-key", key],
    ["stripe-webhook-secret", webhookSecret],
  ] as const)
    if (!/^[\x21-\x7e]+$/.test(value)) throw new ConfigError(`--${flag} is empty, or holds a space or a line break.`);
  return { key, webhookSecret, url: place === undefined ? null : url("stripe-url", place, ["https:", "http:"]) };
}

/** The first key is the current one; others, with commas, open what they have encrypted. */
function readSecretKeys(text: string | undefined): MasterKeys | null {
  if (text === undefined) return null;
  const [current, ...old] = text.split(",").map((one) => {
    const key = parseKey(one);
    if (key === null) throw new ConfigError("--secret-key takes 32 bytes in base64 or hex, such as: openssl rand -base64 32");
    return key;
  });
  return current === undefined ? null : { ...singleKey(current), old: old.map((key) => ({ key, since: 0 })) };
}

function readMailFrom(text: string): string {
  try {
    parseMailbox(text);
    return text;
  } catch (error) {
    throw new ConfigError(`--mail-from: ${(error as Error).message}`);
  }
}

function readName(text: string | undefined): string | null {
  const name = text?.trim();
  if (name === undefined) return null;
  if (name === "" || name.length > 200 || /\p{Cc}/u.test(name)) throw new ConfigError("--name takes 1 to 200 characters in one line.");
  return name;
}

function readTrustedSenders(text: string | undefined): string[] {
  return (text?.split(",") ?? []).map((part) => {
    try {
      return part.includes("@") ? parseAddress(part.trim()).key : toDomain(part.trim());
    } catch (error) {
      throw new ConfigError(`--trust-sender takes a domain such as acme.com or an address: ${(error as Error).message}`);
    }
  });
}
