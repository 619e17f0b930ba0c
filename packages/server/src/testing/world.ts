import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Mailsvc } from "@mailsvc/sdk";
import { type CampaignDetail, DEFAULT_RELAY, durationMs, EMAIL_STATES, type NewCampaign, type ReceivedMail } from "@mailsvc/sdk/contract";
import type { TestInbox } from "@mailsvc/sdk/testing";
import { type App, createApp } from "../app.ts";
import { sqliteBackend } from "../backend.sqlite.ts";
import type { Backend } from "../backend.ts";
import { type Config, readConfig } from "../config.ts";
import type { StatusChange } from "../emails/emails.ts";
import { DROP_HEADER } from "../http/fault-injection.ts";
import { ControllableClock } from "../lib/controllable-clock.ts";
import { type DomainRecords, noRecords } from "../lib/domain-records.ts";
import type { FetchText } from "../lib/fetch-text.ts";
import { type Log, silentLog } from "../lib/log.ts";
import { seededRandom } from "../lib/random.ts";
import type { Tracing } from "../lib/tracing.ts";
import { DAY } from "../lib/units.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { SmtpListener } from "../mail/smtp-listener.ts";
import type { PaymentProvider } from "../marketplace/payments/provider.ts";
import { type RelayParts, readRelayParts } from "../relay-parts.ts";
import { serveSubmission } from "../submission/submission.ts";
import { createSubmissionAccess } from "../submission-access.ts";
import { assertNodeVersion, version } from "../version.ts";
import type { Lookup } from "../webhooks/connect.ts";
import { Activity, createInbox } from "./activity.ts";
import { emptyDatabase } from "./empty-database.ts";
import { createEvents, type TestEvents } from "./events.ts";

export interface WorldOptions {
  /** The seed of everything random: ids, keys, jitter. The same seed gives the same world. */
  seed?: number;
  /** The instant of the clock, ISO 8601. It is frozen until it is advanced or thawed. */
  now?: string;
  /** @internal Another kind of clock, for example one that moves whenever it is read. */
  clock?: typeof ControllableClock;
  /** @internal How mail is delivered; by default it is captured. */
  mailer?: Mailer;
  /** @internal How relays are reached, and where their tokens come from; by default over the network. */
  relays?: Partial<RelayParts>;
  /** @internal The payment provider; by default a call confirms payments. */
  payments?: PaymentProvider;
  /** The domain name system; by default it has no records. `txt` gives the TXT records of a name. */
  dns?: Partial<DomainRecords>;
  /** @internal The addresses of host names, for webhooks; by default only this machine has a name. */
  lookup?: Lookup;
  /** @internal What the server says; by default nobody hears it. */
  log?: Log;
  /** @internal Makes spans; by default there are none. */
  tracing?: Tracing;
  /** @internal Gets certificates of providers; by default there are none. */
  fetchText?: FetchText;
  /** Flags as `mailsvc dev` takes them, e.g. `{ "rate-limit": "send=5/s" }`. */
  flags?: Readonly<Record<string, string>>;
  /** A Postgres database, empty or used by this world before, instead of its own folder. */
  databaseUrl?: string;
  /** @internal A data folder, empty or used by a world before, which stays; by default each world has one of its own. */
  folder?: string;
  /**
   * Waits for work outside of the service that depends on it, such as that of an agent; returns whether there was any. The world then
   * counts as settled only when neither has any left.
   */
  alongside?: () => Promise<boolean>;
  /** False for a world that behaves as in production: senders must be verified, and the dev endpoints are closed. */
  dev?: boolean;
}

/** A workspace, and a client with its owner key. */
export interface WorkspaceClient {
  readonly workspaceId: string;
  readonly apiKey: string;
  readonly sdk: Mailsvc;
}

/** Reply of a recipient: see `inbox.reply` of the API. */
export type TestAnswer = Parameters<Mailsvc["inbox"]["reply"]>[1];

/** A separate mailsvc: in this process, without a port, with its own data, clock and randomness. */
export interface TestWorld {
  /** A client with the owner key. */
  readonly sdk: Mailsvc;
  readonly apiKey: string;
  readonly workspaceId: string;
  /** The builder's workspace, which dev mode makes besides the brand's; that is the one of `sdk` and `apiKey`. Throws outside dev mode. */
  readonly builder: WorkspaceClient;
  /** The key that manages workspaces. */
  readonly operatorKey: string;
  /** Creates another workspace. */
  createWorkspace(name: string): Promise<WorkspaceClient>;
  /** Answers requests without a network: give it to any client. */
  readonly fetch: typeof fetch;
  readonly url: string;
  /** Listens for SMTP at a free port of this machine, as `mailsvc dev` does, until the world is disposed of. The first call opens it. */
  listenSmtp(): Promise<{ readonly host: string; readonly port: number }>;
  /** @internal For the tests of the service itself. */
  readonly app: App;
  readonly clock: {
    /** Milliseconds since 1970. */
    now(): number;
    /** Moves time by a duration such as `15m`, and runs everything that becomes due on the way. */
    advance(by: string): Promise<void>;
    /** Calls `fire` once, `ms` from now by this clock. Returns how to cancel it. */
    after(ms: number, fire: () => void): () => void;
    /** Moves time to the next timer; false if there is none. */
    next(): Promise<boolean>;
    /** @internal Moves time without waiting for the work that becomes due. */
    readonly control: ControllableClock;
  };
  /**
   * Lets a recipient answer the last mail to an address, as a mail program would. The mail was sent with `replyTo: "auto"`, or from a
   * domain whose mail is received.
   */
  reply(from: string, answer: TestAnswer): Promise<ReceivedMail>;
  /** The captured mail. */
  readonly inbox: TestInbox;
  /** The events of this world. */
  readonly events: TestEvents;
  /**
   * Creates a campaign, sends it and moves the clock until it is over: through its throttle and its A/B test. One whose winner is
   * picked by hand stays SENDING.
   */
  campaign(fields: NewCampaign): Promise<CampaignDetail>;
  /** Waits until nothing runs and nothing is due. */
  settle(): Promise<void>;
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

// Longer than any A/B test; a campaign that is not over by then waits for somebody.
const CAMPAIGN_MS = 14 * DAY;

const URL_OF_WORLD = "http://mailsvc.test";

const noFiles: FetchText = (url) => Promise.reject(new Error(`There is no ${url}.`));
const noAddresses: Lookup = async () => [];

/**
 * Creates a world, in a few milliseconds. Dispose of it at the end: `await using world = await createWorld()`. Throws if Node is
 * too old.
 */
export async function createWorld(options: WorldOptions = {}): Promise<TestWorld> {
  assertNodeVersion(process.versions.node);
  const folder = options.folder ?? createTemporaryFolder();
  const clock = new (options.clock ?? ControllableClock)(Date.parse(options.now ?? "2026-01-01T00:00:00.000Z"), "frozen");
  const strayMoves: string[] = [];
  const app = await startApp(options, { folder, clock, strayMoves });
  const settle = async (): Promise<void> => {
    do await app.deps.queue.idle();
    while (await options.alongside?.());
  };
  const activity = new Activity(clock, settle);
  const inProcess = fetchFrom(app, activity);
  const { workspaceId, profiles } = app.installation;
  const { apiKey, operatorKey } = app.installation as { apiKey: string; operatorKey: string };
  const clientOf = (key: string): Mailsvc => new Mailsvc({ apiKey: key, baseUrl: URL_OF_WORLD, fetch: inProcess });
  const sdk = clientOf(apiKey);
  let smtp: Promise<SmtpListener> | null = null;
  let disposed = false;
  const dispose = async (): Promise<void> => {
    if (disposed) return;
    disposed = true;
    await (await smtp)?.close();
    await app.close();
    if (options.folder === undefined) removeFolder(folder);
    if (strayMoves.length > 0) throw new Error(`EMAIL_STATES does not list what emails did here: ${strayMoves.join(", ")}.`);
  };
  return {
    sdk,
    apiKey,
    workspaceId,
    operatorKey,
    get builder() {
      if (profiles === null) throw new Error("This world is not in dev mode: it has no builder. Use createWorkspace().");
      return { ...profiles.builder, sdk: clientOf(profiles.builder.apiKey) };
    },
    createWorkspace: async (name) => {
      const created = await clientOf(operatorKey).workspaces.create({ name });
      return { workspaceId: created.id, apiKey: created.apiKey, sdk: clientOf(created.apiKey) };
    },
    fetch: inProcess,
    url: URL_OF_WORLD,
    listenSmtp: async () => {
      const { host, port } = await (smtp ??= listenSmtp(app));
      return { host, port };
    },
    app,
    clock: createClock(clock, settle),
    campaign: (fields) => runCampaign({ sdk, clock, settle }, fields),
    reply: (from, answer) => reply({ sdk, settle }, from, answer),
    inbox: createInbox({ sdk, settle, activity }),
    events: createEvents({ sdk, settle, activity, deps: app.deps, workspaceId }),
    settle,
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

interface AppParts {
  readonly folder: string;
  readonly clock: ControllableClock;
  /** Gets the changes of emails that the contract does not list. */
  readonly strayMoves: string[];
}

async function startApp(options: WorldOptions, { folder, clock, strayMoves }: AppParts): Promise<App> {
  const file = join(folder, "mailsvc.db");
  if (!existsSync(file)) writeFileSync(file, await emptyDatabase());
  const config: Config = readConfig({ flags: { ...options.flags, data: folder }, env: {}, dev: options.dev ?? true });
  return createApp({
    config,
    version,
    // A test's data need not survive a power cut.
    backend:
      options.databaseUrl === undefined ? await sqliteBackend(folder, { synchronous: "OFF" }) : await onPostgres(options.databaseUrl),
    clock,
    random: seededRandom(options.seed ?? 1),
    log: options.log ?? silentLog,
    dns: { ...noRecords, ...options.dns },
    lookup: options.lookup ?? noAddresses,
    fetchText: options.fetchText ?? noFiles,
    relays: await composeRelays(config, options),
    ...(options.tracing && { tracing: options.tracing }),
    ...(options.payments && { payments: options.payments }),
    statusListener: async (_tx, changes) => void strayMoves.push(...listStray(changes)),
    baseUrl: () => URL_OF_WORLD,
  });
}

function listenSmtp({ deps, installation }: App): Promise<SmtpListener> {
  return serveSubmission(deps, createSubmissionAccess(deps, installation), { host: "127.0.0.1", port: 0, tls: null, insecureAuth: false });
}

/** Requests to an app, without a network. */
function fetchFrom(app: App, activity: Activity): typeof fetch {
  const answer = async (request: Request): Promise<Response> => (await app.http.routed()).fetch(request);
  return async (input, init) => {
    const request = new Request(input, init);
    const answering = answer(request);
    activity.follow(request, answering);
    const response = await answering;
    // This is how a caller sees a cut connection.
    if (response.headers.has(DROP_HEADER))
      throw new TypeError("fetch failed", { cause: Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }) });
    return response;
  };
}

function createClock(clock: ControllableClock, settle: () => Promise<void>): TestWorld["clock"] {
  return {
    now: clock.now,
    control: clock,
    after: (ms, fire) => {
      const timer = clock.after(ms, "test", fire);
      return () => timer.cancel();
    },
    advance: async (by) => void (await clock.advanceTo(clock.now() + durationMs(by), settle)),
    next: async () => {
      await settle();
      const next = clock.next();
      if (next) await clock.advanceTo(next.at, settle);
      return next !== null;
    },
  };
}

interface Moving {
  readonly sdk: Mailsvc;
  readonly clock: ControllableClock;
  readonly settle: () => Promise<void>;
}

async function runCampaign({ sdk, clock, settle }: Moving, fields: NewCampaign): Promise<CampaignDetail> {
  const { id } = await sdk.campaigns.create(fields);
  await sdk.campaigns.send(id);
  const end = clock.now() + CAMPAIGN_MS;
  for (;;) {
    await settle();
    const campaign = await sdk.campaigns.get(id);
    const next = clock.next();
    if (campaign.status !== "SENDING" || next === null || next.at > end) return campaign;
    await clock.advanceTo(next.at, settle);
  }
}

async function reply({ sdk, settle }: Omit<Moving, "clock">, from: string, answer: TestAnswer): Promise<ReceivedMail> {
  await settle();
  const [last] = (await sdk.inbox.list({ to: from, limit: 1 })).data;
  if (!last) throw new Error(`No mail was sent to ${from}, so that nothing can be answered.`);
  const received = await sdk.inbox.reply(last.id, answer);
  await settle();
  return received;
}

/** The changes of emails that the contract does not list. */
function listStray(changes: readonly Pick<StatusChange, "from" | "to">[]): string[] {
  return changes.filter(({ from, to }) => !EMAIL_STATES[from].next.includes(to)).map(({ from, to }) => `${from} → ${to}`);
}

/** The relays of the flags, with what a test puts in their place. */
async function composeRelays(config: Config, { mailer, relays }: WorldOptions): Promise<RelayParts> {
  const given = mailer && { settings: { name: DEFAULT_RELAY, host: "mail.test" }, make: async () => mailer };
  return { ...(await readRelayParts(config)), ...relays, ...(given && { given }) };
}

/** Folders of worlds that are not disposed of yet. */
const folders = new Set<string>();
let removesAtExit = false;

/** A folder that is removed when its world is disposed of, or at the latest when the process exits. */
function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-world-"));
  folders.add(folder);
  // A test that fails before it disposes of its world would leave the folder behind.
  if (!removesAtExit) process.once("exit", () => [...folders].forEach(removeFolder));
  removesAtExit = true;
  return folder;
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
}

async function onPostgres(url: string): Promise<Backend> {
  const { postgresBackend } = await import("../backend.pg.ts");
  return postgresBackend(url);
}
