import { readFileSync, rmSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { App, AppParts } from "./app.ts";
import { sqliteBackend } from "./backend.sqlite.ts";
import type { Backend } from "./backend.ts";
import { type Config, ConfigError } from "./config.ts";
import type { StorageUnavailable } from "./db/errors.ts";
import { watchDisk } from "./health/disk-watch.ts";
import type { Metrics } from "./health/metrics.ts";
import { checkReadiness } from "./health/readiness.ts";
import { createEntrance } from "./http/entrance.ts";
import { InFlightRequests } from "./http/in-flight.ts";
import { toListenError } from "./http/listen-error.ts";
import { listen } from "./http/server.ts";
import { StorageHealth } from "./http/storage-health.ts";
import type { TlsFiles } from "./inbound/inbound.ts";
import type { Installation } from "./installation/access.ts";
import { firstKeyFile } from "./installation/first-keys.ts";
import { assertSeal, findInstallation } from "./installation/installation.ts";
import { systemClock } from "./lib/clock.ts";
import { controllableClock } from "./lib/controllable-clock.ts";
import { makeIds } from "./lib/ids.ts";
import type { Log } from "./lib/log.ts";
import { assertNodeVersion } from "./lib/node-version.ts";
import { type Random, secureRandom } from "./lib/random.ts";
import { makeSeal, SealBroken } from "./lib/seal.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { PaymentProvider } from "./marketplace/payments/provider.ts";
import { listReadyFiles, removeDevFile, removeReadyFile, writeReadyFile } from "./ready-file.ts";
import { systemDns } from "./senders/dns.ts";
import { GRACE_MS } from "./shutdown.ts";
import { version } from "./version.ts";

export interface RunningServer extends Installation {
  readonly url: string;
  /** The page of dev mode; null in production, which has none. */
  readonly dashboardUrl: string | null;
  /** Where metrics are served; null without --metrics. */
  readonly metricsUrl: string | null;
  /** @internal */
  readonly app: App;
  /** The file that holds the keys of a new installation until `keysShown`; null when no key is waiting there. */
  readonly keysFile: string | null;
  /** Call this once a person has seen the keys: removes `keysFile`. */
  keysShown(): void;
  /** Stops accepting, finishes what runs (10 s at most), closes the database. */
  close(): Promise<void>;
}

// A server that listens waits this long for a first probe, before it loads the app: the probe would have to wait for that.
const QUIET_MS = 50;
// Time to answer the requests that were waiting for the disk.
const FATAL_MS = 1000;
// EX_IOERR of sysexits.h.
const FATAL_EXIT = 74;

/**
 * Starts a server. Throws ConfigError, ListenError, or StorageUnavailable when another server uses the folder. Files it creates
 * are readable by their owner only.
 */
export async function serve(config: Config, log: Log): Promise<RunningServer> {
  // The data holds people's addresses. Only the main thread of a process may set its umask.
  if (isMainThread) process.umask(0o077);
  assertNodeVersion(process.versions.node);
  // A file of an earlier run would name a server that no longer exists.
  if (config.readyFile !== null) rmSync(config.readyFile, { force: true });
  const mailer = await createMailer(config);
  // Dev mode shows its keys on every start.
  const firstKeys = config.dev ? null : firstKeyFile(config.data);
  let url = "";
  const payments = await createPayments(config, () => config.publicUrl ?? url);
  const metrics = config.metrics && (await import("./health/metrics.ts")).createMetrics();
  // Loaded only where it is used.
  const tracing = config.tracing && (await import("./telemetry/otlp.ts")).createTracing(config.tracing, { version, log });
  const backend = await openBackend(config, log);
  // Only now: until the folder is locked, the dev file may belong to a running server.
  if (config.dev) removeDevFile(config);
  const clock = config.dev ? controllableClock(systemClock.now(), "running") : systemClock;
  const random = secureRandom();
  const { db } = backend;
  const inFlight = new InFlightRequests(clock.real);
  const storage = new StorageHealth(clock.real, log);
  const entrance = createEntrance(
    {
      "/healthz": async () => ({ status: "ok", version }),
      "/readyz": () => checkReadiness({ db, storage, clock, version }),
    },
    makeIds(clock, random),
  );
  const parts: AppParts = {
    config,
    version,
    backend,
    clock,
    random,
    log,
    dns: systemDns,
    inFlight,
    storage,
    ...(mailer && { mailer }),
    ...(payments && { payments }),
    ...(firstKeys && { firstKeys }),
    ...(tracing && { tracing }),
    ...(metrics && { observe: metrics.observe }),
    baseUrl: () => config.publicUrl ?? url,
    ownPort: () => (url === "" ? null : getPort(new URL(url))),
  };
  let closeApp = (): Promise<void> => db.close();
  const cleanups: (() => Promise<void> | void)[] = [() => tracing?.close(), () => closeApp()];
  const close = async (): Promise<void> => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  const startApp = async (): Promise<App> => {
    const { createApp } = await import("./app.ts");
    const app = await createApp(parts);
    closeApp = app.close;
    entrance.open(app.http);
    return app;
  };
  try {
    await assertMasterKey(config, backend, random);
    if (config.databaseUrl === null && config.minFreeBytes > 0)
      cleanups.push(await watchDisk({ folder: config.data, minFreeBytes: config.minFreeBytes, storage, real: clock.real, log }));
    const found = needsAppFirst(config) ? null : await findInstallation({ config, db }, firstKeys);
    let app = found === null ? await startApp() : null;
    const metricsUrl = app && metrics && config.metrics ? await startMetrics(metrics, config.metrics, { app, backend }, cleanups) : null;
    const listening = await listen(entrance.router, {
      host: config.host,
      port: config.port,
      https: config.https,
      inFlight,
      real: clock.real,
      log,
      maxConnections: config.maxConnections,
      onConnection: () => backend.connectionAccepted(),
    });
    cleanups.push(async () => {
      // At the same time: a mail server that hangs must not add its ten seconds to those of slow requests.
      const stopped = app?.stopWork();
      await listening.close(GRACE_MS);
      await stopped;
    });
    url = listening.url;
    if (app && config.inboundSmtp) cleanups.push(await startInbound(app, config.inboundSmtp, log));
    const installation = found ?? app?.installation;
    if (!installation) throw new Error("The server has no installation.");
    const known = {
      url,
      ...installation,
      dashboardUrl: config.dev ? `${url}/` : null,
      keysFile: installation.apiKey !== null ? (firstKeys?.path ?? null) : null,
    };
    cleanups.push(() => {
      for (const file of listReadyFiles(config)) removeReadyFile(file, known);
    });
    for (const file of listReadyFiles(config)) writeReadyFile(file, known);
    if (app === null) {
      await settlesWithin(entrance.asked, QUIET_MS);
      app = await startApp();
    }
    return { ...known, metricsUrl, app, keysShown: () => firstKeys?.remove(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Whether the app is needed before the server listens. Otherwise probes are answered before the app is loaded, which takes as long
 * as everything before it.
 */
function needsAppFirst({ accessLog, metrics, inboundSmtp, tracing, trustedSenders }: Config): boolean {
  return accessLog || metrics !== null || inboundSmtp !== null || tracing !== null || trustedSenders.length > 0;
}

/** Throws ConfigError if the data was encrypted with another key. */
async function assertMasterKey({ secretKey }: Config, backend: Backend, random: Random): Promise<void> {
  try {
    await assertSeal(backend.db, makeSeal(secretKey ?? (await backend.masterKey(random)), random));
  } catch (error) {
    if (error instanceof SealBroken)
      throw new ConfigError("The data was encrypted with another key. Pass that key with --secret-key, or restore its secret.key.");
    throw error;
  }
}

/** Waits until `event` settles, but `ms` at most. */
function settlesWithin(event: Promise<void>, ms: number): Promise<void> {
  return new Promise((done) => {
    const late = systemClock.real.after(ms, done);
    void event.then(() => {
      late.cancel();
      done();
    });
  });
}

async function startMetrics(
  metrics: Metrics,
  address: { readonly host: string; readonly port: number },
  { app, backend }: { app: App; backend: Backend },
  cleanups: (() => Promise<void> | void)[],
): Promise<string> {
  metrics.collectFrom({ deps: app.deps, readStats: () => backend.readStats() });
  const { serveMetrics } = await import("./health/metrics.ts");
  const serving = await serveMetrics(metrics, address).catch((error: NodeJS.ErrnoException) => {
    throw toListenError(error, address);
  });
  cleanups.push(serving.close);
  return serving.url;
}

/** Accepts mail for the inbound domain; answers how to stop it. */
async function startInbound(
  { deps }: App,
  address: { readonly host: string; readonly port: number },
  log: Log,
): Promise<() => Promise<void>> {
  const { openTlsFiles, serveInboundSmtp } = await import("./inbound/inbound.ts");
  const inbound = await serveInboundSmtp(deps, { ...address, tls: openTls(deps.config.inboundTls, openTlsFiles) }).catch(
    (error: NodeJS.ErrnoException) => {
      throw toListenError(error, address);
    },
  );
  log.info("accepting bounces and complaints over SMTP", {
    host: inbound.host,
    port: inbound.port,
    complaintsTo: deps.returnPath.complaintAddress(),
  });
  return inbound.close;
}

function openTls(files: readonly string[], open: (files: readonly string[]) => TlsFiles): TlsFiles | null {
  try {
    return files.length === 0 ? null : open(files);
  } catch (error) {
    throw new ConfigError(`--inbound-smtp-tls: ${(error as Error).message}`);
  }
}

async function createMailer({ smtpUrl, dkim }: Config): Promise<Mailer | undefined> {
  if (smtpUrl === null) return undefined;
  const { smtpMailer } = await import("./mail/smtp.ts");
  try {
    return smtpMailer({
      url: smtpUrl,
      dkim: dkim.map(({ domain, selector, keyFile }) => ({ domain, selector, privateKey: readDkimKey(keyFile) })),
      time: systemClock.real,
    });
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

function readDkimKey(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(`--dkim: cannot read the key file ${file} (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function getPort({ port, protocol }: URL): number {
  return Number(port) || (protocol === "https:" ? 443 : 80);
}

/** Stripe's library is loaded only where it is used. */
async function createPayments(config: Config, baseUrl: () => string): Promise<PaymentProvider | undefined> {
  if (config.stripe === null) return undefined;
  const { stripePayments } = await import("./marketplace/payments/stripe.ts");
  return stripePayments({ ...config.stripe, baseUrl });
}

/** Postgres and its libraries are loaded only when they are used. */
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
