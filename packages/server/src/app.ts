import { type Endpoint, served, VARIANT_NAMES } from "@mailsvc/sdk/contract";
import { Changes } from "./audit/changes.ts";
import { previewCampaign } from "./campaigns/preview.ts";
import { type AppParts, composeDeps, isControllable } from "./compose-deps.ts";
import { ConfigError } from "./config.ts";
import { BrowserAccess, type DraftSources, SIGN_IN_PATH, signedInPages } from "./dashboard/dashboard.ts";
import type { Db } from "./db/db.ts";
import type { Deps } from "./deps.ts";
import { createDevWorld, type DevWorld, keepClock, restoreClock } from "./dev/world.ts";
import { findLastEventTime } from "./events/events.ts";
import {
  CLEANUP_JOB,
  createKeyLookup,
  createWorkspaceLookup,
  devHandlers,
  jobsOf,
  publicPages,
  servedDialects,
  servedHandlers,
} from "./features.ts";
import { FaultInjector } from "./http/fault-injection.ts";
import { RETENTION_MS } from "./http/idempotency.ts";
import { InFlightRequests } from "./http/in-flight.ts";
import { guardDev } from "./http/public/dev-guard.ts";
import { createRouter, type Router } from "./http/router.ts";
import type { ObservedRequest, ServedRequest } from "./http/serve-requests.ts";
import { Arrivals } from "./inbox/arrivals.ts";
import { CLEAR_TEST_MAIL_JOB, findLastMailTime } from "./inbox/inbox.ts";
import type { Installation } from "./installation/access.ts";
import { assertSeal, ensureInstallation } from "./installation/installation.ts";
import { ApiError } from "./lib/api-error.ts";
import type { ControllableClock } from "./lib/controllable-clock.ts";
import { listKeys } from "./lib/master-keys.ts";
import { DAY, HOUR } from "./lib/units.ts";
import { getProposed } from "./marketplace/messages/proposals.ts";
import { lastAliveAt } from "./marketplace/runs/clock.ts";
import { scheduleNextSweep } from "./marketplace/runs/sweep.ts";
import { mcpLoader } from "./mcp-http.ts";
import { RECEIVERS_JOB } from "./metrics/metrics.ts";
import { renderProposal } from "./proposals.ts";
import { RECHECK_INBOUND_JOB } from "./received/domains.ts";
import type { RunRecorder } from "./recording/recording.ts";
import { noteRequest, type RequestSink } from "./requests/requests.ts";
import { startRetention } from "./retention/retention.ts";
import { RECHECK_JOB, trustSenders } from "./senders/senders.ts";
import { stopWork } from "./shutdown.ts";
import { findLatestEventAt } from "./webhooks/outbox.ts";

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
  await deps.relays.open(installation.workspaceId);
  await trustGiven(deps, installation);
  const world =
    deps.faults !== null && isControllable(clock)
      ? createDevWorld({
          deps,
          snapshots: backend.snapshots,
          clock,
          faults: deps.faults,
          startWorkers: () => startWorkers(deps),
          beforeReplaced: parts.recorder && ((what) => parts.recorder?.beforeReplaced(what) ?? Promise.resolve()),
          clearCaches: () => clearCaches(deps),
        })
      : null;
  if (parts.recorder) attachRecorder(parts.recorder, deps, installation);
  const http = composeRouter(parts, deps, { inFlight, arrivals, installation, world });
  await runClock.start();
  await startWorkers(deps);
  deps.keyRotation.start();
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
      await deps.keyRotation.stop();
      await deps.keyUse.stop();
      await deps.requestStore?.save();
      await deps.mailParser.close();
      await deps.capturedMailParser.close();
      await deps.mailAuthenticator.close();
      await db.close();
    },
  };
}

/** Verifies the senders of --trust-sender. Throws ConfigError for one that another workspace has verified. */
async function trustGiven(deps: Deps, { workspaceId }: Installation): Promise<void> {
  const { trustedSenders } = deps.config;
  if (trustedSenders.length === 0) return;
  await deps.db
    .tx((tx) => trustSenders(tx, deps, workspaceId, trustedSenders))
    .catch((error: unknown) => {
      throw error instanceof ApiError ? new ConfigError(`--trust-sender: ${error.message} ${error.hint}`) : error;
    });
}

/** Gives the recorder what it reads at the end, and what it must never record. */
function attachRecorder(recorder: RunRecorder, deps: Deps, { apiKey, operatorKey, profiles }: Installation): void {
  const { config, db, clock, queue, limiter } = deps;
  const listPages = async () => [
    ...Object.values(served).flatMap((noun) => Object.values<Endpoint>(noun)),
    ...publicPages(deps, limiter),
    { path: SIGN_IN_PATH },
  ];
  const secrets = [
    apiKey,
    operatorKey,
    ...Object.values(profiles ?? {}).map((access) => access.apiKey),
    ...(config.secretKeys === null ? [] : listKeys(config.secretKeys).map((key) => Buffer.from(key).toString("base64"))),
    config.stripe?.key ?? null,
    config.stripe?.webhookSecret ?? null,
    config.oidc?.clientSecret ?? null,
  ];
  const owner = { owner: true, permissions: new Set<string>() };
  recorder.attach(
    {
      ...{ db, clock, queue },
      explain: async (workspaceId, id) => {
        const [{ explain }, { EXPLAINERS }] = await Promise.all([import("./explain/explain.ts"), import("./explainers.ts")]);
        return explain(EXPLAINERS, db.read, deps, owner, { workspaceId, id });
      },
    },
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
  const { db, queue, clock, config } = deps;
  await queue.start(jobsOf(deps), JOBS_AT_A_TIME);
  await db.tx(async (tx) => {
    await queue.enqueue(tx, { kind: CLEANUP_JOB, payload: {}, runAt: clock.now() + RETENTION_MS, dedupeKey: CLEANUP_JOB });
    await queue.enqueue(tx, { kind: CLEAR_TEST_MAIL_JOB, payload: {}, runAt: clock.now() + DAY, dedupeKey: CLEAR_TEST_MAIL_JOB });
    for (const kind of [RECHECK_JOB, RECHECK_INBOUND_JOB])
      await queue.enqueue(tx, { kind, payload: {}, runAt: clock.now() + DAY, dedupeKey: kind });
    // In dev mode no mail goes out, so nobody is asked who would take it.
    if (!config.dev) await queue.enqueue(tx, { kind: RECEIVERS_JOB, payload: {}, runAt: clock.now() + HOUR, dedupeKey: RECEIVERS_JOB });
    await scheduleNextSweep(tx, deps);
    await startRetention(tx, deps);
  });
}

/** Forgets what is known of a database whose data was replaced. */
function clearCaches({ keyCache, keyUse, verified, limiter, tracker, runClock, relays }: Deps): void {
  relays.clear();
  keyCache.clear();
  keyUse.clear();
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
  const handlers = { ...servedHandlers(arrivals), ...(world && devHandlers(world, arrivals)) };
  const changes = new Changes(deps, served, handlers);
  return createRouter({
    contract: served,
    handlers,
    dialects: servedDialects(deps, changes, parts.config.dev ? installation.apiKey : null),
    deps,
    keys: createKeyLookup(deps),
    sessions: access,
    workspaces: createWorkspaceLookup(deps),
    inFlight,
    limiter,
    changes,
    faults: world && new FaultInjector(world.faults, deps.clock.real),
    observe: createObserver(parts, deps.requestLog ?? deps.requestStore),
    mount: async (h3) => {
      const { mountPublicPages } = await import("./http/public/public-pages.ts");
      const pages = [...publicPages(deps, limiter), ...signedInPages({ deps, access, installation, drafts: DRAFT_SOURCES }, limiter)];
      mountPublicPages(h3, pages, { ids, log, inFlight, storage, trustedProxies: parts.config.trustedProxies });
      if (parts.config.mcp !== null) {
        const { mountMcp } = await import("./http/public/mcp-route.ts");
        mountMcp(h3, {
          load: mcpLoader({ ...parts, ...deps, dev: parts.config.dev, limits: parts.config.mcp }),
          ids,
          log,
          inFlight,
          failedLogins,
          dev: parts.config.dev,
          trustedProxies: parts.config.trustedProxies,
        });
      }
    },
  });
}

/** Writes the access log, hands requests to metrics and to the log of requests; null when nobody wants them. */
function createObserver({ config, log, observe }: AppParts, requestLog: RequestSink | null): ((request: ObservedRequest) => void) | null {
  if (!config.accessLog && requestLog === null) return observe ?? null;
  return (request) => {
    const { requestId, method, route, status, ms, keyId } = request;
    const served: ServedRequest = { requestId, method, route, status, ms, keyId };
    if (config.accessLog) log.info("request", { ...served, ms: Math.round(ms * 10) / 10 });
    observe?.(served);
    if (requestLog !== null) noteRequest(requestLog, request);
  };
}

/** Renderers of the drafts that the dashboard previews in a frame. */
const DRAFT_SOURCES: DraftSources = {
  campaigns: {
    permission: "campaigns:read",
    render: async (read, workspaceId, id, query) => {
      const variant = VARIANT_NAMES.find((name) => name === query.get("variant"));
      return (await previewCampaign(read, workspaceId, { id, contact: query.get("contact") || undefined, variant })).html;
    },
  },
  proposals: {
    permission: "marketplace:read",
    render: async (read, workspaceId, id) => {
      return (await renderProposal(read, workspaceId, await getProposed(read, workspaceId, id)))?.html ?? null;
    },
  },
};
