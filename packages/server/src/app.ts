import { type Endpoint, served } from "@mailsvc/sdk/contract";
import type { Backend } from "./backend.ts";
import type { Config } from "./config.ts";
import {
  BrowserAccess,
  type BuiltFiles,
  DashboardFiles,
  loadBuiltFiles,
  SessionWatch,
  SIGN_IN_PATH,
  signedInPages,
} from "./dashboard/dashboard.ts";
import type { Db } from "./db/db.ts";
import { transactionClock } from "./db/transaction-clock.ts";
import { captureTestMail } from "./delivery/delivery.ts";
import type { Deps } from "./deps.ts";
import { keepClock, restoreClock } from "./dev/kept-clock.ts";
import { createDevWorld, type DevWorld } from "./dev/world.ts";
import { DRAFT_SOURCES } from "./draft-sources.ts";
import type { StatusListener } from "./emails/emails.ts";
import { findLastEventTime } from "./events/events.ts";
import { EventStreamLoop, type EventStreamWorker } from "./events/stream.ts";
import { explain } from "./explain/explain.ts";
import { EXPLAINERS } from "./explainers.ts";
import {
  CLEANUP_JOB,
  connectHooks,
  createKeyLookup,
  devHandlers,
  dialectPages,
  endpointLoader,
  jobsOf,
  loadDialects,
  publicPages,
  servedHandlers,
  streamListeners,
} from "./features.ts";
import { FailedLogins } from "./http/failed-logins.ts";
import { FaultInjector } from "./http/fault-injection.ts";
import { RETENTION_MS } from "./http/idempotency.ts";
import { InFlightRequests } from "./http/in-flight.ts";
import { guardDev } from "./http/public/dev-guard.ts";
import { createRouter, type Router } from "./http/router.ts";
import type { ServedRequest } from "./http/serve-requests.ts";
import { StorageHealth } from "./http/storage-health.ts";
import { createReturnPath, MailAuthenticator, MailParser, readMessageTexts, SnsClient } from "./inbound/inbound.ts";
import { Arrivals } from "./inbox/arrivals.ts";
import { captureMailer } from "./inbox/capture.ts";
import { CLEAR_TEST_MAIL_JOB, findLastMailTime } from "./inbox/inbox.ts";
import { MailReleaser } from "./inbox/releaser.ts";
import type { Installation } from "./installation/access.ts";
import type { FirstKeyStore } from "./installation/first-keys.ts";
import { assertSeal, ensureInstallation } from "./installation/installation.ts";
import { KeyCache } from "./keys/key-cache.ts";
import { KeyWatch } from "./keys/key-watch.ts";
import type { Clock } from "./lib/clock.ts";
import type { ControllableClock } from "./lib/controllable-clock.ts";
import type { DomainRecords } from "./lib/domain-records.ts";
import { type FetchText, fetchText } from "./lib/fetch-text.ts";
import type { Guard } from "./lib/guard-url.ts";
import { makeIds } from "./lib/ids.ts";
import { KeyedSignal } from "./lib/keyed-signal.ts";
import type { Log } from "./lib/log.ts";
import { makeMacs } from "./lib/macs.ts";
import type { Random } from "./lib/random.ts";
import { makeSeal } from "./lib/seal.ts";
import type { Tracing } from "./lib/tracing.ts";
import { DAY } from "./lib/units.ts";
import { measureLoopPressure } from "./loop-pressure.ts";
import type { Mailer } from "./mail/mailer.ts";
import { simulator } from "./mail/simulator.ts";
import { createStaging } from "./marketplace/files/staging.ts";
import { localPayments } from "./marketplace/payments/local.ts";
import type { PaymentProvider } from "./marketplace/payments/provider.ts";
import { lastAliveAt, makeRunClock } from "./marketplace/runs/clock.ts";
import { scheduleNextSweep } from "./marketplace/runs/sweep.ts";
import { mcpLoader } from "./mcp-http.ts";
import type { Queue } from "./queue/queue.ts";
import { RECHECK_INBOUND_JOB } from "./received/domains.ts";
import type { RunRecorder } from "./recording/recording.ts";
import { type RelayParts, readRelayParts } from "./relay-parts.ts";
import { mainMailer } from "./relays/main-mailer.ts";
import { RelayRegistry } from "./relays/registry.ts";
import { startRetention } from "./retention/retention.ts";
import { RECHECK_JOB, trustSenders } from "./senders/senders.ts";
import { VerifiedSenders } from "./senders/verified-senders.ts";
import { stopWork } from "./shutdown.ts";
import { SubmissionPorts } from "./submission/submission.ts";
import { traceJobs, traceMailer, traceTransactions } from "./telemetry/instrument.ts";
import { CompiledTemplates } from "./templates/templates.ts";
import { Tracker } from "./tracking/tracking.ts";
import { type Lookup, systemLookup } from "./webhooks/connect.ts";
import { WebhookDispatcher } from "./webhooks/dispatcher.ts";
import type { WebhookWorker } from "./webhooks/endpoint.ts";
import { createFetchFile } from "./webhooks/fetch-file.ts";
import { findLatestEventAt } from "./webhooks/outbox.ts";

/** The parts of an app: `serve.ts` passes the real ones, tests pass their own. */
interface AppParts {
  config: Config;
  version: string;
  backend: Backend;
  /** A controllable clock gives the app its dev endpoints; only dev mode has one. */
  clock: Clock | ControllableClock;
  random: Random;
  log: Log;
  dns: DomainRecords;
  /** Who sends mail; by default what the configuration says. What no relay takes is captured. */
  relays?: RelayParts;
  /** Takes payments for listings; without one, they are confirmed by hand. */
  payments?: PaymentProvider;
  /** Resolves the host names of webhooks; by default through DNS. */
  lookup?: Lookup;
  baseUrl: () => string;
  /** Called after each request, e.g. for metrics. */
  observe?: (request: ServedRequest) => void;
  /** Gets certificates of providers; by default over the network. */
  fetchText?: FetchText;
  /** The port the server listens on; null while it does not listen. */
  ownPort?: () => number | null;
  /** Loads the files of the dashboard; by default those built from the sources, or contained in the program. */
  dashboardFiles?: () => Promise<BuiltFiles>;
  /** Makes spans; without it there are none. */
  tracing?: Tracing;
  /** Records what happens, in dev mode. */
  recorder?: RunRecorder;
  /** Is told last of the changes of emails. */
  statusListener?: StatusListener;
  /** Keeps the keys of a new installation until they were shown; without one they are only in `App.installation`. */
  firstKeys?: FirstKeyStore;
}

export interface App {
  readonly http: Router;
  readonly deps: Deps;
  readonly inFlight: InFlightRequests;
  /** The first workspaces and their keys. */
  readonly installation: Installation;
  /** Takes no further jobs and lets running ones finish within ten seconds; requests are still served. */
  stopWork(): Promise<void>;
  /** The same, then closes the database. */
  close(): Promise<void>;
}

// Jobs other than the delivery of emails. They use little but the database.
const JOBS_AT_A_TIME = 32;

/** Composes the product and starts its workers. It does not listen. */
export async function createApp(parts: AppParts): Promise<App> {
  const { config, backend, clock } = parts;
  const inFlight = new InFlightRequests(clock.real);
  const arrivals = new Arrivals(() => deps);
  const deps: Deps = await composeDeps(parts, inFlight, arrivals);
  const { db, queue, mailer, runClock } = deps;
  if (isControllable(clock)) {
    await keepTime(clock, db);
    // The next start goes on from there.
    if (config.now !== null) await keepClock(db, clock);
  }
  await assertSeal(db, deps.seal);
  const installation = await ensureInstallation(deps, parts.firstKeys);
  await deps.relays.open();
  if (config.trustedSenders.length > 0) await db.tx((tx) => trustSenders(tx, deps, installation.workspaceId, config.trustedSenders));
  const world =
    config.dev && isControllable(clock)
      ? createDevWorld({
          deps,
          snapshots: backend.snapshots,
          clock,
          faults: new FaultInjector(clock.real, deps.ids),
          startWorkers: () => startWorkers(deps),
          beforeReplaced: parts.recorder && ((what) => parts.recorder?.beforeReplaced(what) ?? Promise.resolve()),
          clearCaches: () => clearCaches(deps),
        })
      : null;
  if (parts.recorder) attachRecorder(parts.recorder, deps, installation);
  const http = composeRouter(parts, deps, { inFlight, arrivals, installation, world });
  await runClock.start();
  await startWorkers(deps);
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopWork({ queue, mailer, real: clock.real }));
  return {
    http,
    deps,
    inFlight,
    installation,
    stopWork: stop,
    close: async () => {
      await runClock.stop();
      await stop();
      await deps.mailParser.close();
      await deps.capturedMailParser.close();
      await deps.mailAuthenticator.close();
      await db.close();
    },
  };
}

/** Makes what the rooms need. Nothing runs yet. */
async function composeDeps(parts: AppParts, inFlight: InFlightRequests, arrivals: Arrivals): Promise<Deps> {
  const { config, backend, clock, random, log } = parts;
  const tracing = parts.tracing ?? null;
  const db = tracing ? traceTransactions(backend.db, tracing) : backend.db;
  const ids = makeIds(clock, random);
  const isLoopBusy = measureLoopPressure(clock.real);
  // Many callers alone do not delay deliveries, as long as they leave the process time for them.
  const overloaded = (): boolean => inFlight.crowded && isLoopBusy();
  const lookup = parts.lookup ?? systemLookup();
  const webhooks = new WebhookDispatcher({
    deps: () => deps,
    lookup,
    loadEndpoint: endpointLoader(() => deps),
  });
  const eventStream = new EventStreamLoop({ deps: () => deps, listeners: streamListeners(() => deps) });
  const made = backend.makeQueue({ clock, random, log, overloaded });
  const traced = (mailer: Mailer): Mailer => (tracing ? traceMailer(mailer, tracing) : mailer);
  const capture = traced(simulator(captureMailer({ ids, clock, arrivals, atOnce: backend.capturesAtOnce })));
  const masterKey = config.secretKey ?? (await backend.masterKey(random));
  const macs = makeMacs(masterKey);
  const seal = makeSeal(masterKey, random);
  const relays = new RelayRegistry({
    db: () => deps.db,
    seal,
    clock,
    log,
    maxAgeMs: backend.keysMaxAgeMs,
    capture,
    ...(parts.relays ?? (await readRelayParts(config))),
    traced,
    processes: () => made.workers?.live ?? 1,
  });
  const hooks = connectHooks(() => deps);
  const { recorder } = parts;
  const deps: Deps = {
    ...parts,
    ...{
      clock: transactionClock(clock),
      tracing,
      storage: new StorageHealth(clock.real, log),
      db,
      queue: withWorkers(tracing ? traceJobs(made, tracing, clock.now) : made, eventStream, webhooks),
      mailer: mainMailer(relays),
      mailers: captureTestMail(relays, capture),
      relays,
      ids,
      keyCache: new KeyCache(db, backend.keysMaxAgeMs, clock.real.now),
      keyWatch: new KeyWatch(db, clock.real),
      sessionWatch: new SessionWatch(db, clock),
      dashboardFiles: new DashboardFiles(parts.dashboardFiles ?? loadBuiltFiles),
      verified: new VerifiedSenders(backend.keysMaxAgeMs, clock.real.now),
      seal,
      macs,
      tracker: new Tracker(),
      compiledTemplates: new CompiledTemplates(),
      sns: new SnsClient(parts.fetchText ?? fetchText, parts.clock),
      returnPath: createReturnPath(macs, config.inboundDomain, config.replyDomain),
      mailParser: new MailParser(clock.real),
      capturedMailParser: new MailParser(clock.real),
      readMessage: (message) => readMessageTexts(deps.capturedMailParser, message),
      mailAuthenticator: new MailAuthenticator(parts.dns, clock.real),
      payments: parts.payments ?? localPayments(parts),
      webhooks,
      fetchFile: createFetchFile({ lookup, guard: makeGuard(parts) }),
      runClock: makeRunClock({ db, clock, log, controllable: isControllable(clock) }),
      eventStream,
      ...hooks,
      statusListeners: [...hooks.statusListeners, recorder?.statusListener, parts.statusListener].filter((one) => one !== undefined),
      eventListeners: [...hooks.eventListeners, ...(recorder ? [recorder.eventListener] : [])],
      ...(recorder && { onSubmission: recorder.submissionListener, onError: recorder.errorListener }),
      staging: createStaging(() => deps),
      submissionPorts: new SubmissionPorts(),
      releaser: new MailReleaser({ config: config.release, from: config.mailFrom, clock, ids }),
      limiter: backend.makeLimiter(clock, isControllable(clock)),
      failedLogins: new FailedLogins(clock),
      deliverySignal: new KeyedSignal(clock.real),
      recipientsAtOnce: backend.recipientsAtOnce,
      webhookGuard: makeGuard(parts, config.webhookAllow),
    },
  };
  return deps;
}

/** The addresses that may be called. The port of this server is known once it listens. */
function makeGuard({ config, ownPort }: AppParts, allowed: Guard["allowed"] = null): Guard {
  return {
    dev: config.dev,
    allowed,
    get ownPort() {
      return ownPort?.() ?? null;
    },
  };
}

/** Gives the recorder what it reads at the end, and what it must never record. */
function attachRecorder(recorder: RunRecorder, deps: Deps, { apiKey, operatorKey, profiles }: Installation): void {
  const { config, db, clock, queue, limiter } = deps;
  const listPages = async () => [
    ...Object.values(served).flatMap((noun) => Object.values<Endpoint>(noun)),
    ...publicPages(deps, limiter),
    ...(await dialectPages(deps)),
    { path: SIGN_IN_PATH },
  ];
  const secrets = [
    apiKey,
    operatorKey,
    ...Object.values(profiles ?? {}).map((access) => access.apiKey),
    config.secretKey === null ? null : Buffer.from(config.secretKey).toString("base64"),
    config.stripe?.key ?? null,
    config.stripe?.webhookSecret ?? null,
  ];
  const owner = { owner: true, permissions: new Set<string>() };
  recorder.attach(
    { db, clock, queue, explain: (workspaceId, id) => explain(EXPLAINERS, db.read, deps, owner, { workspaceId, id }) },
    listPages,
    secrets,
  );
}

/** A clock that was moved forward stays so over a restart: stored times must not lie in the future. */
async function keepTime(clock: ControllableClock, { read }: Db): Promise<void> {
  await restoreClock(read, clock);
  const signs = await Promise.all([findLastEventTime(read), findLastMailTime(read), findLatestEventAt(read), lastAliveAt(read)]);
  clock.reset(Math.max(clock.now(), ...signs.map((at) => at ?? 0)), clock.mode);
}

/** Starts the workers, and the jobs of which one always waits. */
async function startWorkers(deps: Deps): Promise<void> {
  const { db, queue, clock } = deps;
  await queue.start(jobsOf(deps), JOBS_AT_A_TIME);
  await db.tx(async (tx) => {
    await queue.enqueue(tx, { kind: CLEANUP_JOB, payload: {}, runAt: clock.now() + RETENTION_MS, dedupeKey: CLEANUP_JOB });
    await queue.enqueue(tx, { kind: CLEAR_TEST_MAIL_JOB, payload: {}, runAt: clock.now() + DAY, dedupeKey: CLEAR_TEST_MAIL_JOB });
    for (const kind of [RECHECK_JOB, RECHECK_INBOUND_JOB])
      await queue.enqueue(tx, { kind, payload: {}, runAt: clock.now() + DAY, dedupeKey: kind });
    await scheduleNextSweep(tx, deps);
    await startRetention(tx, deps);
  });
}

/** Forgets what is known of a database whose data was replaced. */
function clearCaches({ keyCache, verified, limiter, tracker, runClock, relays }: Deps): void {
  relays.clear();
  keyCache.clear();
  verified.clear();
  limiter.clear();
  tracker.clear();
  runClock.reset();
}

interface RouterParts {
  readonly inFlight: InFlightRequests;
  readonly arrivals: Arrivals;
  readonly installation: Installation;
  /** Null outside of dev mode. */
  readonly world: DevWorld | null;
}

/** Everything that is served: the contract, public pages and, in dev mode, its own endpoints and pages. */
function composeRouter(parts: AppParts, deps: Deps, { inFlight, arrivals, installation, world }: RouterParts): Router {
  const { ids, limiter, log, storage, failedLogins } = deps;
  const access = new BrowserAccess({ deps, guardLocal: guardDev });
  return createRouter({
    contract: served,
    handlers: { ...servedHandlers(arrivals), ...(world && devHandlers(world, arrivals)) },
    loadDialects: () => loadDialects(deps, parts.config.dev ? installation.apiKey : null),
    deps,
    keys: createKeyLookup(deps),
    sessions: access,
    inFlight,
    limiter,
    faults: world?.faults ?? null,
    observe: createObserver(parts),
    mount: async (h3) => {
      const { mountPublicPages } = await import("./http/public/public-pages.ts");
      const pages = [
        ...publicPages(deps, limiter),
        ...(await dialectPages(deps)),
        ...signedInPages({ deps, access, installation, drafts: DRAFT_SOURCES }),
      ];
      mountPublicPages(h3, pages, { ids, log, inFlight, storage });
      if (parts.config.mcp !== null) {
        const { mountMcp } = await import("./http/public/mcp-route.ts");
        mountMcp(h3, {
          load: mcpLoader({ ...parts, ...deps, dev: parts.config.dev, limits: parts.config.mcp }),
          ids,
          log,
          inFlight,
          failedLogins,
          dev: parts.config.dev,
        });
      }
    },
  });
}

/** Writes the access log and hands requests to metrics; null when neither is wanted. */
function createObserver({ config, log, observe }: AppParts): ((request: ServedRequest) => void) | null {
  if (!config.accessLog) return observe ?? null;
  return (request) => {
    log.info("request", { ...request, ms: Math.round(request.ms * 10) / 10 });
    observe?.(request);
  };
}

function isControllable(clock: Clock | ControllableClock): clock is ControllableClock {
  return "advanceTo" in clock;
}

/** The queue together with the event stream and the webhook dispatcher: they start, stop and become idle as one. */
function withWorkers(queue: Queue, eventStream: EventStreamWorker, webhooks: WebhookWorker): Queue {
  return {
    ...queue,
    start: async (handlers, concurrency) => {
      await queue.start(handlers, concurrency);
      await webhooks.start();
      eventStream.start();
    },
    stop: async () => {
      // A process without a queue counts as dead: others would take the events it is about to release.
      await webhooks.stop();
      await queue.stop();
      await eventStream.stop();
    },
    idle: async () => {
      // Each may create work for the others.
      do await queue.idle();
      while ((await eventStream.idle()) || (await webhooks.idle()));
    },
  };
}
