import { readFileSync } from "node:fs";
import { DEFAULT_RELAY } from "@mailsvc/sdk/contract";
import { type Config, ConfigError } from "./config.ts";
import { systemClock } from "./lib/clock.ts";
import { type PostForm, postForm } from "./mail/access-tokens.ts";
import type { Mailer } from "./mail/mailer.ts";
import { parseSmtpUrl } from "./mail/smtp-url.ts";
import { readRelayFile } from "./relays/file.ts";
import type { GivenRelay, MakeRelayMailer } from "./relays/known-relay.ts";
import { type GivenKey, type RelaySettings, toDkimKeys } from "./relays/settings.ts";

/** Relays in flags and files. */
export interface RelayParts {
  /** The relay of --smtp-url. */
  readonly given: GivenRelay | null;
  /** The relays of --relays. */
  readonly file: readonly RelaySettings[];
  readonly makeMailer: MakeRelayMailer;
  /** The keys of --dkim. */
  readonly dkim: readonly GivenKey[];
  readonly postForm: PostForm;
}

/** Reads the relays of flags and files. Throws ConfigError. */
export async function readRelayParts({ smtpUrl, relays, dkim }: Pick<Config, "smtpUrl" | "relays" | "dkim">): Promise<RelayParts> {
  const keys = dkim.map(({ keyFile, ...key }) => ({ ...key, privateKey: readDkimKey(keyFile) }));
  const file = relays === null ? [] : readFile(relays);
  if (smtpUrl !== null && file.some(({ name }) => name === DEFAULT_RELAY))
    throw new ConfigError(`--smtp-url and --relays both define the relay ${DEFAULT_RELAY}. Leave out one of them.`);
  try {
    const target = smtpUrl === null ? null : parseSmtpUrl(smtpUrl);
    // A key that cannot be used would otherwise show with the first mail.
    for (const settings of file)
      await makeMailer({ ...parseSmtpUrl("smtp://127.0.0.1"), host: settings.host }, toDkimKeys(settings, keys, ""));
    if (target === null || smtpUrl === null) return { given: null, file, makeMailer, dkim: keys, postForm };
    const settings = toSettings(smtpUrl);
    await makeMailer(target, toDkimKeys(settings, keys, ""));
    return { given: { settings, make: (of) => makeMailer(target, of) }, file, makeMailer, dkim: keys, postForm };
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

/** The same relays, with changed mailers. */
export function changeMailers(parts: RelayParts, change: (mailer: Mailer) => Mailer): RelayParts {
  const { given, makeMailer: make } = parts;
  return {
    ...parts,
    given: given && { ...given, make: async (dkim) => change(await given.make(dkim)) },
    makeMailer: async (target, dkim) => change(await make(target, dkim)),
  };
}

/** Makes a mailer that speaks SMTP; nodemailer is loaded with the first one. */
const makeMailer: MakeRelayMailer = async (target, dkim) => {
  const { smtpMailer } = await import("./mail/smtp.ts");
  return smtpMailer({ url: target, dkim, time: systemClock.real });
};

function toSettings(url: string): RelaySettings {
  const { host, port, implicitTls, tls, verify, auth, maxConnections } = parseSmtpUrl(url);
  const login = auth && "pass" in auth ? { user: auth.user, password: auth.pass } : {};
  const connections = maxConnections === undefined ? {} : { connections: maxConnections };
  return { name: DEFAULT_RELAY, host, port, tls: implicitTls ? "implicit" : tls, verify, ...login, ...connections };
}

function readFile(path: string): RelaySettings[] {
  try {
    return readRelayFile(path);
  } catch (error) {
    throw new ConfigError(`--relays: ${(error as Error).message}`);
  }
}

function readDkimKey(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(`--dkim: cannot read the key file ${file} (${(error as NodeJS.ErrnoException).code}).`);
  }
}
