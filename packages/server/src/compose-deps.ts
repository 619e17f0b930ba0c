import type { Backend } from "./backend.ts";
import type { Config } from "./config.ts";
import { type BuiltFiles, DashboardFiles, loadBuiltFiles, SessionWatch } from "./dashboard/dashboard.ts";
import type { Db } from "./db/db.ts";
import { transactionClock } from "./db/scope.ts";
import { captureTestMail } from "./delivery/delivery.ts";
import type { Deps } from "./deps.ts";
import { readForWebhooks } from "./developer-webhooks/developer-webhooks.ts";
import type { StatusListener } from "./emails/emails.ts";
import { EventReaders } from "./events/readers.ts";
import { EventStreamLoop, type EventStreamWorker } from "./events/stream.ts";
import { connectHooks, endpointLoader, eventReaders } from "./features.ts";
import { FailedLogins } from "./http/failed-logins.ts";
import type { InFlightRequests } from "./http/in-flight.ts";
import type { ServedRequest } from "./http/serve-requests.ts";
import { StorageHealth } from "./http/storage-health.ts";
import { createReturnPath, InboundPeers, MailAuthenticator, MailParser, readMessageTexts, SnsClient } from "./inbound/inbound.ts";
import type { Arrivals } from "./inbox/arrivals.ts";
import { captureMailer } from "./inbox/capture.ts";
import { MailReleaser } from "./inbox/releaser.ts";
import type { FirstKeyStore } from "./installation/first-keys.ts";
import { isSealed } from "./installation/installation.ts";
import { KeyRotation } from "./installation/key-rotation.ts";
import { sealAnew } from "./installation/seal-anew.ts";
import { KeyCache, KeyWatch } from "./keys/key-cache.ts";
import { KeyUse } from "./keys/key-use.ts";
import type { Clock } from "./lib/clock.ts";
import type { ControllableClock } from "./lib/controllable-clock.ts";
import type { DomainRecords } from "./lib/domain-records.ts";
import { FaultRules } from "./lib/fault-rules.ts";
import { type FetchText, fetchText } from "./lib/fetch-text.ts";
import type { Guard } from "./lib/guard-url.ts";
import { type Ids, makeIds } from "./lib/ids.ts";
import { KeyedSignal } from "./lib/keyed-signal.ts";
import type { Log } from "./lib/log.ts";
import { makeRingMacs } from "./lib/macs.ts";
import { KeyRing } from "./lib/master-keys.ts";
import type { Random } from "./lib/random.ts";
import { makeRingSeal } from "./lib/seal.ts";
import type { Tracing } from "./lib/tracing.ts";
import { measureLoopPressure } from "./loop-pressure.ts";
import type { Mailer } from "./mail/mailer.ts";
import { simulator } from "./mail/simulator.ts";
import { failingMailer, SmtpFaults } from "./mail/smtp-fault-injection.ts";
import { createStaging } from "./marketplace/files/staging.ts";
import { isAnyListed } from "./marketplace/listings/listings.ts";
import { localPayments, type PaymentProvider } from "./marketplace/payments/provider.ts";
import { makeRunClock } from "./marketplace/runs/clock.ts";
import { MailCounters } from "./metrics/metrics.ts";
import type { Queue } from "./queue/queue.ts";
import type { RunRecorder } from "./recording/recording.ts";
import { changeMailers, type RelayParts, readRelayParts } from "./relay-parts.ts";
import { mainMailer, RelayRegistry } from "./relays/registry.ts";
import { RequestLog, RequestStore } from "./requests/requests.ts";
import { VerifiedSenders } from "./senders/verified-senders.ts";
import { SubmissionPorts } from "./submission/submission.ts";
import { SEALED } from "./table-data/table-data.ts";
import { traceJobs, traceMailer, traceTransactions } from "./telemetry/instrument.ts";
import { CompiledTemplates } from "./templates/templates.ts";
import { Tracker } from "./tracking/tracking.ts";
import { type Lookup, systemLookup } from "./webhooks/connect.ts";
import { WebhookDispatcher } from "./webhooks/dispatcher.ts";
import type { WebhookWorker } from "./webhooks/endpoint.ts";
import { createFetchFile } from "./webhooks/fetch-file.ts";

/** The parts of an app: `serve.ts` passes the real ones, tests pass their own. */
export interface AppParts {
  config: Config;
  version: string;
  backend: Backend;
  /** A controllable clock gives the app its dev endpoints; only dev mode has one. */
  clock: Clock | ControllableClock;
  random: Random;
  log: Log;
  dns: DomainRecords;
  /** The relays that send mail; by default those of the configuration. Mail that no relay takes is captured. */
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

/** Creates the dependencies of the modules. Nothing runs yet. */
export async function composeDeps(parts: AppParts, inFlight: InFlightRequests, arrivals: Arrivals): Promise<Deps> {
  const { config, backend, clock, random, log, recorder } = parts;
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
  const readers = new EventReaders(
    () => deps,
    eventReaders(() => deps),
  );
  const eventStream = new EventStreamLoop({ deps: () => deps, readers: [readers, readForWebhooks(() => deps)] });
  const made = backend.makeQueue({ clock, random, log, overloaded });
  const traced = (mailer: Mailer): Mailer => (tracing ? traceMailer(mailer, tracing) : mailer);
  const { failing, ...ofDevMode } = composeDevParts(config, ids, clock);
  const capture = traced(simulator(failing(captureMailer({ ids, clock, arrivals, atOnce: backend.capturesAtOnce }), true)));
  const ring = new KeyRing(config.secretKeys ?? (await backend.masterKeys(random, !(await isSealed(db)))));
  const macs = makeRingMacs(ring);
  const seal = makeRingSeal(ring, random);
  const relays = new RelayRegistry({
    db: () => deps.db,
    seal,
    clock,
    log,
    maxAgeMs: backend.keysMaxAgeMs,
    capture,
    ...changeMailers(parts.relays ?? (await readRelayParts(config)), (mailer) => failing(mailer, false)),
    traced,
    processes: () => made.workers?.live ?? 1,
  });
  const storage = new StorageHealth(clock.real, log);
  db.watchRefusals((error) => storage.refused(error));
  const deps: Deps = {
    ...parts,
    ...{
      clock: transactionClock(clock),
      tracing,
      storage,
      db,
      queue: withWorkers(tracing ? traceJobs(made, tracing, clock.now) : made, eventStream, webhooks),
      mailer: mainMailer(relays),
      mailers: captureTestMail(relays, capture),
      relays,
      ids,
      keyCache: new KeyCache(db, backend.keysMaxAgeMs, clock.real.now),
      ...{ keyWatch: new KeyWatch(db, clock), keyUse: new KeyUse(db, clock, log), requestStore: openRequestStore(config, db, clock, log) },
      sessionWatch: new SessionWatch(db, clock),
      dashboardFiles: new DashboardFiles(parts.dashboardFiles ?? loadBuiltFiles),
      verified: new VerifiedSenders(backend.keysMaxAgeMs, clock.real.now),
      seal,
      macs,
      keyRotation: new KeyRotation({
        ring,
        store: config.secretKeys === null ? backend.keyStore : null,
        sealAnew: () => sealAnew(db, seal, SEALED),
        spreadMs: backend.keySpreadMs,
        real: clock.real,
        log,
      }),
      tracker: new Tracker(),
      compiledTemplates: new CompiledTemplates(),
      sns: new SnsClient(parts.fetchText ?? fetchText, parts.clock),
      returnPath: createReturnPath(macs, config.inboundDomain, config.replyDomain),
      inboundPeers: new InboundPeers(),
      mailParser: new MailParser(clock.real),
      capturedMailParser: new MailParser(clock.real),
      readMessage: (message) => readMessageTexts(deps.capturedMailParser, message),
      mailAuthenticator: new MailAuthenticator(parts.dns, clock.real),
      payments: parts.payments ?? localPayments(parts),
      webhooks,
      fetchFile: createFetchFile({ lookup, guard: makeGuard(parts) }),
      runClock: makeRunClock({ db, clock, log, controllable: isControllable(clock) }),
      eventStream,
      eventReaders: readers,
      mailCounters: new MailCounters(),
      ...connectHooks(() => deps),
      statusListeners: [recorder?.statusListener, parts.statusListener].filter((one) => one !== undefined),
      eventListeners: recorder ? [recorder.eventListener] : [],
      ...(recorder && { onSubmission: recorder.submissionListener, onError: recorder.errorListener }),
      staging: createStaging(() => deps),
      submissionPorts: new SubmissionPorts(),
      ...ofDevMode,
      releaser: new MailReleaser({ config: config.release, from: config.mailFrom, clock, ids }),
      limiter: backend.makeLimiter(clock, isControllable(clock)),
      failedLogins: new FailedLogins(clock, config.trustedProxies),
      deliverySignal: new KeyedSignal(clock.real),
      recipientsAtOnce: backend.recipientsAtOnce,
      webhookGuard: makeGuard(parts, config.webhookAllow),
      showsMarketplace: async (read) => config.dev || config.marketplace || (await isAnyListed(read)),
    },
  };
  return deps;
}

/** Parts of dev mode: failures that a developer asks for, and the latest requests. */
function composeDevParts({ dev }: Pick<Config, "dev">, ids: Ids, clock: Clock) {
  const faults = dev ? new FaultRules(ids) : null;
  const smtpFaults = faults && new SmtpFaults(faults, clock.real);
  const failing = (mailer: Mailer, names: boolean): Mailer => (smtpFaults ? failingMailer(mailer, smtpFaults, { names }) : mailer);
  return { faults, smtpFaults, failing, requestLog: dev ? new RequestLog(clock) : null };
}

/** The log of requests in the database; null in dev mode, which has one in memory, and where nobody asked for it. */
function openRequestStore({ dev, keepDays }: Pick<Config, "dev" | "keepDays">, db: Db, clock: Clock, log: Log): RequestStore | null {
  return dev || keepDays.requests === 0 ? null : new RequestStore(db, clock, log);
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

/** True for a clock that a developer moves. */
export function isControllable(clock: Clock | ControllableClock): clock is ControllableClock {
  return "advanceTo" in clock;
}

/** The queue together with the event stream and the webhook dispatcher: they start, stop and become idle as one. */
function withWorkers(queue: Queue, eventStream: EventStreamWorker, webhooks: WebhookWorker): Queue {
  return {
    ...queue,
    start: async (handlers, concurrency) => {
      // Jobs wait for what follows from events.
      eventStream.start();
      await queue.start(handlers, concurrency);
      await webhooks.start();
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
