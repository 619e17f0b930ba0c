import { rmSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { type App, createApp } from "./app.ts";
import { sqliteBackend } from "./backend.sqlite.ts";
import type { Backend } from "./backend.ts";
import type { AppParts } from "./compose-deps.ts";
import { type Config, ConfigError, type SmtpConfig } from "./config.ts";
import { createOwnerLink } from "./dashboard/dashboard.ts";
import { waitForDatabase } from "./database-wait.ts";
import type { StorageUnavailable } from "./db/errors.ts";
import { DiskReserve, watchDisk } from "./health/disk-watch.ts";
import { type FileWatch, watchFiles } from "./health/file-watch.ts";
import type { Metrics } from "./health/metrics.ts";
import { toListenError } from "./http/listen-error.ts";
import { listen } from "./http/server.ts";
import { serveInboundSmtp } from "./inbound/inbound.ts";
import type { Installation } from "./installation/access.ts";
import { firstKeyFile } from "./installation/first-keys.ts";
import { claimPlace } from "./installation/holder.ts";
import { areOfProduction, isInstalled, isOfProduction } from "./installation/installation.ts";
import { type Clock, iso, systemClock } from "./lib/clock.ts";
import { ControllableClock } from "./lib/controllable-clock.ts";
import { systemDns } from "./lib/domain-records.ts";
import { KeyMissing } from "./lib/key-file.ts";
import type { Log } from "./lib/log.ts";
import { secureRandom, seededRandom } from "./lib/random.ts";
import { SealBroken } from "./lib/seal.ts";
import type { SmtpListener } from "./mail/smtp-listener.ts";
import type { TlsFiles } from "./mail/tls-files.ts";
import type { PaymentProvider } from "./marketplace/payments/provider.ts";
import { listReadyFiles, removeDevFile, removeReadyFile, writeReadyFile } from "./ready-file.ts";
import type { RunRecorder } from "./recording/recording.ts";
import { readRelayParts } from "./relay-parts.ts";
import { GRACE_MS, STOP_MS, stopInTime } from "./shutdown.ts";
import { serveSubmission } from "./submission/submission.ts";
import { createSubmissionAccess } from "./submission-access.ts";
import { assertNodeVersion, version } from "./version.ts";

export interface RunningServer extends Installation {
  readonly url: string;
  readonly dashboardUrl: string;
  /** Makes a link that signs one browser in as the owner of the first workspace, once, within 15 minutes; null when it has no owner key. */
  createSignInLink(): Promise<string | null>;
  /** Address at which mail is submitted over SMTP, without a login; null for none. */
  readonly smtpUrl: string | null;
  /** Address of Resend's API without a prefix; null without --resend-port. */
  readonly resendUrl: string | null;
  /** The hosts of the relays that mail leaves through; empty while all mail is captured. */
  readonly relayHosts: readonly string[];
  /** Address at which metrics are served; null without --metrics. */
  readonly metricsUrl: string | null;
  /** @internal */
  readonly app: App;
  /** The file that holds the keys of a new installation until `keysShown`; null when no key is waiting there. */
  readonly keysFile: string | null;
  /** Call this once a person has seen the keys: removes `keysFile`. */
  keysShown(): void;
  /** Stops accepting, finishes what runs, closes the database: within ten seconds, whatever hangs. */
  close(): Promise<void>;
}

// Time to answer the requests that were waiting for the disk.
const FATAL_MS = 1000;
// First descriptor of the sockets that systemd holds.
const FIRST_FD = 3;
// EX_IOERR of sysexits.h.
const FATAL_EXIT = 74;

/**
 * Starts a server. Throws ConfigError, ListenError, or StorageUnavailable when another server uses the folder. Files it creates
 * are readable by their owner only. A database on another server is waited for. `recorder` records what happens, in dev mode; `signal`
 * ends the wait with StartEnded.
 */
export async function serve(
  config: Config,
  log: Log,
  { recorder, signal }: { recorder?: RunRecorder | undefined; signal?: AbortSignal | undefined } = {},
): Promise<RunningServer> {
  // The data holds people's addresses. Only the main thread of a process may set its umask.
  if (isMainThread) process.umask(0o077);
  assertNodeVersion(process.versions.node);
  // A file of an earlier run would name a server that no longer exists.
  if (config.readyFile !== null) rmSync(config.readyFile, { force: true });
  const relays = await readRelayParts(config);
  // Dev mode shows its keys on every start.
  const firstKeys = config.dev ? null : firstKeyFile(config.data);
  let url = "";
  const payments = await createPayments(config, () => config.publicUrl ?? url);
  const metrics = config.metrics && (await import("./health/metrics.ts")).createMetrics();
  // Loaded only where it is used.
  const tracing = config.tracing && (await import("./telemetry/otlp.ts")).createTracing(config.tracing, { version, log });
  const clock = makeClock(config);
  const parts = {
    clock,
    relays,
    ...(payments && { payments }),
    ...(firstKeys && { firstKeys }),
    ...(tracing && { tracing }),
    ...(metrics && { observe: metrics.observe }),
    ...(recorder && config.dev && { recorder }),
    baseUrl: () => config.publicUrl ?? url,
    ownPort: () => (url === "" ? null : getPort(new URL(url))),
  };
  const watchesDisk = config.databaseUrl === null && config.minFreeBytes > 0;
  const reserve = watchesDisk ? new DiskReserve({ folder: config.data, log, isKept: !config.dev }) : null;
  await reserve?.giveUp();
  const open = (): Promise<OpenApp> => openApp(config, log, parts);
  const { app, backend } = await waitForDatabase(open, { config, real: clock.real, log, signal });
  const cleanups: (() => Promise<void> | void)[] = [() => tracing?.close(), () => app.close()];
  const close = async (): Promise<void> => {
    const inTime = await stopInTime(cleanups.splice(0).reverse(), clock.real);
    if (!inTime) log.warn("the stop took too long, and is left to the end of the process", { ms: STOP_MS });
  };
  try {
    if (reserve !== null) {
      const { data: folder, minFreeBytes } = config;
      cleanups.push(await watchDisk({ folder, minFreeBytes, storage: app.deps.storage, real: clock.real, log, reserve }));
    }
    const files = await watchFiles({ real: clock.real, log });
    cleanups.push(files.stop);
    const metricsUrl = metrics && config.metrics ? await startMetrics(metrics, config.metrics, { app, backend, files }, cleanups) : null;
    const listenOptions = {
      https: config.https,
      inFlight: app.inFlight,
      real: clock.real,
      log,
      maxConnections: config.maxConnections,
      onConnection: () => backend.connectionAccepted(),
      tap: recorder?.tap ?? null,
    };
    const { host, port } = config;
    const listening = await listen(app.http, { ...listenOptions, host, port, fd: config.listenFds > 0 ? FIRST_FD : null });
    const closeOthers: (() => Promise<void>)[] = [];
    // At the same time: a mail server that hangs must not add its seconds to those of slow requests.
    cleanups.push(
      async () => void (await Promise.all([app.stopWork(), listening.close(GRACE_MS), ...closeOthers.map((close) => close())])),
    );
    url = listening.url;
    const resend = config.resend && (await listen(app.http, { ...listenOptions, ...config.resend, fd: null, prefix: "/resend" }));
    if (resend) closeOthers.push(() => resend.close(GRACE_MS));
    if (config.inboundSmtp) closeOthers.push(await startInbound(app, config.inboundSmtp, log));
    const smtp = await startSubmission(app, config.smtp);
    closeOthers.push(smtp.close);
    const running: RunningServer = {
      url,
      ...app.installation,
      dashboardUrl: `${config.publicUrl ?? url}/dashboard`,
      createSignInLink: () => createOwnerLink(app.deps, app.installation.workspaceId),
      smtpUrl: smtp.url,
      resendUrl: resend?.url ?? null,
      relayHosts: [...new Set(app.deps.relays.list().map(({ settings }) => settings.host))],
      metricsUrl,
      app,
      keysFile: app.installation.apiKey !== null ? (firstKeys?.path ?? null) : null,
      keysShown: () => firstKeys?.remove(),
      close,
    };
    const readyFiles = listReadyFiles(config);
    cleanups.push(() => {
      for (const file of readyFiles) removeReadyFile(file, running);
    });
    for (const file of readyFiles) writeReadyFile(file, running);
    return running;
  } catch (error) {
    await close();
    throw error;
  }
}

interface OpenApp {
  readonly app: App;
  readonly backend: Backend;
}

/** Opens the data and starts what works on it. Throws ConfigError or StorageUnavailable, and leaves nothing open then. */
async function openApp(
  config: Config,
  log: Log,
  parts: Omit<AppParts, "config" | "log" | "version" | "backend" | "random" | "dns">,
): Promise<OpenApp> {
  const backend = await openBackend(config, log);
  // Only now: until the folder is locked, the dev file may belong to a running server.
  if (config.dev) removeDevFile(config);
  try {
    if (config.dev && (await isOfProduction(backend.db))) throw refuseProduction(config);
    if (config.seed !== null || config.now !== null) await assertNew(backend, config);
    if (!config.dev) await claim(backend, config, log);
    const random = config.seed === null ? secureRandom() : seededRandom(config.seed);
    return { app: await createApp({ ...parts, config, version, backend, random, log, dns: systemDns() }), backend };
  } catch (error) {
    await backend.db.close();
    if (error instanceof KeyMissing) throw new ConfigError(error.message);
    if (error instanceof SealBroken)
      throw new ConfigError("The data was encrypted with another key. Pass that key with --secret-key, or restore its secret.key.");
    throw error;
  }
}

/** In dev mode a clock that can be moved; one that begins at its own instant stands still. */
function makeClock({ dev, now }: Config): Clock | ControllableClock {
  if (!dev) return systemClock;
  return now === null ? new ControllableClock(systemClock.now(), "running") : new ControllableClock(now, "frozen");
}

/** The error for data of `serve`: dev mode would capture its mail, and a reset would delete everything. */
function refuseProduction({ databaseUrl, data }: Config): ConfigError {
  const [place, flag] = databaseUrl === null ? [`data in ${data}`, "--data"] : ["data in the database", "--database-url"];
  return new ConfigError(`The ${place} was made by mailsvc serve, and dev mode never uses such data. Name another place with ${flag}.`);
}

/** Throws StorageUnavailable for data that another place may send from. */
async function claim(backend: Backend, { takeOver }: Config, log: Log): Promise<void> {
  const place = await backend.findPlace();
  const claimed = await claimPlace(backend.db, { place, takeOver, now: iso(systemClock.now()) });
  if (claimed === "taken over")
    log.warn("this server has taken the installation over, and sends all that waits", { place: place.stamp.name });
  else if (takeOver)
    log.warn("--take-over was not needed; remove it, because a copy that is started with it sends everything again", { claimed });
}

/** Throws ConfigError for data of an earlier start: the same ids would come again, or its records would lie in the future. */
async function assertNew({ db }: Backend, { databaseUrl, data }: Config): Promise<void> {
  if (!(await isInstalled(db))) return;
  const place = databaseUrl === null ? `in ${data}: delete it, or name another folder with --data` : "in the database: use an empty one";
  throw new ConfigError(`--seed and --now are for new data, and there is some already ${place}.`);
}

async function startMetrics(
  metrics: Metrics,
  address: { readonly host: string; readonly port: number },
  { app, backend, files }: { app: App; backend: Backend; files: FileWatch },
  cleanups: (() => Promise<void> | void)[],
): Promise<string> {
  metrics.collectFrom({ deps: app.deps, readStats: () => backend.readStats(), files });
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
  const inbound = await serveInboundSmtp(deps, { ...address, tls: await openTls("inbound-smtp-tls", deps.config.inboundTls) }).catch(
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

/** Accepts mail to be sent; answers where, and how to stop it. */
async function startSubmission(app: App, smtp: SmtpConfig): Promise<{ url: string | null; close: () => Promise<void> }> {
  const { plain, implicitTls, anyPort, insecureAuth } = smtp;
  const tls = await openTls("smtp-tls", smtp.tls);
  const access = createSubmissionAccess(app.deps, app.installation);
  const listenAt = async (address: { readonly host: string; readonly port: number }, secure: boolean): Promise<SmtpListener> => {
    try {
      return await serveSubmission(app.deps, access, { ...address, tls, implicitTls: secure, insecureAuth });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" && anyPort && address.port !== 0) return listenAt({ ...address, port: 0 }, secure);
      throw toListenError(error as NodeJS.ErrnoException, address);
    }
  };
  const listeners: SmtpListener[] = [];
  const close = async (): Promise<void> => void (await Promise.all(listeners.map((one) => one.close())));
  try {
    if (plain) listeners.push(await listenAt(plain, false));
    if (implicitTls) listeners.push(await listenAt(implicitTls, true));
  } catch (error) {
    await close();
    throw error;
  }
  const [first] = listeners;
  return { url: first ? toSmtpUrl(first, plain === null) : null, close };
}

function toSmtpUrl({ host, port }: SmtpListener, secure: boolean): string {
  return `${secure ? "smtps" : "smtp"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** node:tls is loaded only where it is used. */
async function openTls(flag: string, files: readonly string[]): Promise<TlsFiles | null> {
  if (files.length === 0) return null;
  const { openTlsFiles } = await import("./mail/tls-files.ts");
  try {
    return openTlsFiles(files);
  } catch (error) {
    throw new ConfigError(`--${flag}: ${(error as Error).message}`);
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
async function openBackend(config: Config, log: Log): Promise<Backend> {
  const { databaseUrl, databaseConnections, data, temporary } = config;
  // Production may still run an older version, which could not use its data any more.
  const checkBefore = (facts: ReadonlySet<string>): void => {
    if (config.dev && areOfProduction(facts)) throw refuseProduction(config);
  };
  if (databaseUrl === null) {
    const synchronous = temporary ? "OFF" : "FULL";
    return sqliteBackend(data, { synchronous, checkBefore, onFatal: (error) => exitAfterDiskFailure(error, log) });
  }
  const { postgresBackend } = await import("./backend.pg.ts");
  return postgresBackend(databaseUrl, { connections: databaseConnections, checkBefore, log });
}

/**
 * Ends the process once the requests at hand are answered: what the disk holds is unknown, so only a new process that recovers
 * from it may write again.
 */
function exitAfterDiskFailure(error: StorageUnavailable, log: Log): void {
  log.error("the disk failed; the process ends, so that its supervisor starts it again", { error: error.message });
  systemClock.real.after(FATAL_MS, () => process.exit(FATAL_EXIT));
}
