import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { type App, createApp } from "./app.ts";
import { sqliteBackend } from "./backend.sqlite.ts";
import type { Backend } from "./backend.ts";
import { type Config, ConfigError } from "./config.ts";
import { listen } from "./http/server.ts";
import type { Installation } from "./installation/installation.ts";
import { systemClock } from "./lib/clock.ts";
import { controllableClock } from "./lib/controllable-clock.ts";
import type { Log } from "./lib/log.ts";
import { secureRandom } from "./lib/random.ts";
import { SealBroken } from "./lib/seal.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { PaymentProvider } from "./marketplace/payments/provider.ts";
import { systemDns } from "./senders/dns.ts";
import { version } from "./version.ts";

export interface RunningServer extends Installation {
  readonly url: string;
  readonly dashboardUrl: string;
  readonly app: App;
  /** Stops accepting, finishes what runs (10 s at most), closes the database. */
  close(): Promise<void>;
}

// What may still run after the call to stop.
const GRACE_MS = 10_000;

/** Starts a server. Throws ConfigError, ListenError, or StorageUnavailable when another server uses the folder. */
export async function serve(config: Config, log: Log): Promise<RunningServer> {
  const mailer = await smtp(config);
  let url = "";
  const payments = await stripe(config, () => config.publicUrl ?? url);
  const backend = await openBackend(config);
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
      close: async () => {
        await listening.close(GRACE_MS);
        await app.close();
      },
    };
    if (config.readyFile !== null) writeReadyFile(config.readyFile, running);
    return running;
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** What other programs need to reach the server: its address and the keys that are known. */
export function toReadyFile({ url, workspaceId, apiKey, operatorKey, profiles, dashboardUrl }: RunningServer): object {
  return { url, workspaceId, apiKey, operatorKey, dashboardUrl, ...(profiles && { profiles }) };
}

/** Writes the ready file, readable by its owner only, because it may hold keys. */
function writeReadyFile(file: string, server: RunningServer): void {
  // Written beside it and renamed, so that no reader sees half a file.
  const temporary = `${file}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(toReadyFile(server), null, 2)}\n`, { mode: 0o600 });
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
async function openBackend({ databaseUrl, data }: Config): Promise<Backend> {
  if (databaseUrl === null) return sqliteBackend(data);
  const { postgresBackend } = await import("./backend.pg.ts");
  return postgresBackend(databaseUrl);
}
