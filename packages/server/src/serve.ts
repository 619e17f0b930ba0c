import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type App, createApp } from "./app.ts";
import { sqliteBackend } from "./backend.sqlite.ts";
import type { Backend } from "./backend.ts";
import { type Config, ConfigError } from "./config.ts";
import type { StorageUnavailable } from "./db/errors.ts";
import { listen } from "./http/server.ts";
import { firstKeyFile } from "./installation/first-keys.ts";
import type { Installation } from "./installation/installation.ts";
import { systemClock } from "./lib/clock.ts";
import { controllableClock } from "./lib/controllable-clock.ts";
import { createFolder } from "./lib/folder.ts";
import type { Log } from "./lib/log.ts";
import { secureRandom } from "./lib/random.ts";
import { SealBroken } from "./lib/seal.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { PaymentProvider } from "./marketplace/payments/provider.ts";
import { systemDns } from "./senders/dns.ts";
import { GRACE_MS } from "./shutdown.ts";
import { version } from "./version.ts";

export interface RunningServer extends Installation {
  readonly url: string;
  readonly dashboardUrl: string;
  readonly app: App;
  /** The file that holds the keys of a new installation until `keysShown`; null when no key is waiting there. */
  readonly keysFile: string | null;
  /** Call this once a person has seen the keys: removes `keysFile`. */
  keysShown(): void;
  /** Stops accepting, finishes what runs (10 s at most), closes the database. */
  close(): Promise<void>;
}

// Time to answer the requests that were waiting for the disk.
const FATAL_MS = 1000;
// EX_IOERR of sysexits.h.
const FATAL_EXIT = 74;

/** In the data folder of a dev server: the command line and the SDK find it there, so that no key has to be copied. */
const DEV_FILE = "dev.json";

/** Starts a server. Throws ConfigError, ListenError, or StorageUnavailable when another server uses the folder. */
export async function serve(config: Config, log: Log): Promise<RunningServer> {
  // A file of an earlier run would name a server that no longer exists.
  if (config.readyFile !== null) rmSync(config.readyFile, { force: true });
  const mailer = await smtp(config);
  // Dev mode shows its keys on every start.
  const firstKeys = config.dev ? null : firstKeyFile(config.data);
  let url = "";
  const payments = await stripe(config, () => config.publicUrl ?? url);
  const backend = await openBackend(config, log);
  // Only now: until the folder is locked, the dev file may belong to a running server.
  if (config.dev) rmSync(join(config.data, DEV_FILE), { force: true });
  const clock = config.dev ? controllableClock(systemClock.now(), "running") : systemClock;
  let app: App;
  try {
    app = await createApp({
      config,
      version,
      backend,
      clock,
      random: secureRandom(),
      log,
      dns: systemDns,
      ...(mailer && { mailer }),
      ...(payments && { payments }),
      ...(firstKeys && { firstKeys }),
      baseUrl: () => config.publicUrl ?? url,
    });
  } catch (error) {
    await backend.db.close();
    if (error instanceof SealBroken)
      throw new ConfigError("The data was sealed with another key. Give that one with --secret-key, or put its secret.key back.");
    throw error;
  }
  try {
    const listening = await listen(app.http, {
      host: config.host,
      port: config.port,
      https: config.https,
      inFlight: app.inFlight,
      real: clock.real,
      log,
      maxConnections: config.maxConnections,
      onConnection: () => backend.connectionAccepted(),
    });
    url = listening.url;
    const running: RunningServer = {
      url,
      ...app.installation,
      dashboardUrl: `${url}/`,
      app,
      keysFile: app.installation.apiKey !== null ? (firstKeys?.path ?? null) : null,
      keysShown: () => firstKeys?.remove(),
      close: async () => {
        for (const file of listReadyFiles(config)) removeReadyFile(file, running);
        // At the same time: a mail server that hangs must not add its ten seconds to those of slow requests.
        const stopped = app.stopWork();
        await listening.close(GRACE_MS);
        await stopped;
        await app.close();
      },
    };
    for (const file of listReadyFiles(config)) writeReadyFile(file, running);
    return running;
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** What other programs need to reach the server: its address and the keys that are known. */
export function toReadyFile({ url, workspaceId, apiKey, operatorKey, profiles, dashboardUrl }: RunningServer): object {
  return { url, workspaceId, apiKey, operatorKey, dashboardUrl, ...(profiles && { profiles }), pid: process.pid };
}

/**
 * What is printed on stdout, which may end in a log: keys only in dev mode or when `isTerminal`. Otherwise names the file
 * that holds them.
 */
export function toAnnouncement(server: RunningServer, isTerminal: boolean): object {
  const { url, workspaceId, dashboardUrl, keysFile } = server;
  if (keysFile === null || isTerminal) return toReadyFile(server);
  return { url, workspaceId, apiKey: null, operatorKey: null, dashboardUrl, keysFile };
}

/** The files that exist while the server runs: the one of --ready-file, and dev.json in the folder of a dev server. */
function listReadyFiles({ dev, data, readyFile }: Config): string[] {
  return [...(readyFile === null ? [] : [readyFile]), ...(dev ? [join(data, DEV_FILE)] : [])];
}

/** Removes a ready file, unless another server has written it since. */
function removeReadyFile(file: string, server: RunningServer): void {
  try {
    if (readFileSync(file, "utf8") === formatReadyFile(server)) rmSync(file);
  } catch {
    // It is gone already.
  }
}

function formatReadyFile(server: RunningServer): string {
  return `${JSON.stringify(toReadyFile(server), null, 2)}\n`;
}

/** Writes the ready file, readable by its owner only, because it may hold keys. */
function writeReadyFile(file: string, server: RunningServer): void {
  createFolder(resolve(dirname(file)));
  // Written beside it and renamed, so that no reader sees half a file.
  const temporary = `${file}.tmp`;
  writeFileSync(temporary, formatReadyFile(server), { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, file);
}

function readKey(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(`--dkim: the key file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

async function smtp({ smtpUrl, dkim }: Config): Promise<Mailer | undefined> {
  if (smtpUrl === null) return undefined;
  const { smtpMailer } = await import("./mail/smtp.ts");
  try {
    return smtpMailer({
      url: smtpUrl,
      dkim: dkim.map(({ domain, selector, keyFile }) => ({ domain, selector, privateKey: readKey(keyFile) })),
      time: systemClock.real,
    });
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

/** Stripe's library is loaded only where it is used. */
async function stripe(config: Config, baseUrl: () => string): Promise<PaymentProvider | undefined> {
  if (config.stripe === null) return undefined;
  const { stripePayments } = await import("./marketplace/payments/stripe.ts");
  return stripePayments({ ...config.stripe, baseUrl });
}

/** Postgres and all that goes with it is loaded only when it is asked for. */
async function openBackend({ databaseUrl, databaseConnections, data }: Config, log: Log): Promise<Backend> {
  if (databaseUrl === null) return sqliteBackend(data, { onFatal: (error) => exitAfterDiskFailure(error, log) });
  const { postgresBackend } = await import("./backend.pg.ts");
  return postgresBackend(databaseUrl, { connections: databaseConnections, log });
}

/**
 * Ends the process once the requests at hand are answered: what the disk holds is unknown, so only a new process that recovers
 * from it may write again.
 */
function exitAfterDiskFailure(error: StorageUnavailable, log: Log): void {
  log.error("the disk failed; the process ends, so that its supervisor starts it again", { error: error.message });
  systemClock.real.after(FATAL_MS, () => process.exit(FATAL_EXIT));
}
