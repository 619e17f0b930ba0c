// Measures how events reach webhooks, and prints one number. `mailsvc` is the outbox of the server, every attempt and state on
// disk; `pool` is a bare undici Pool, which signs nothing and writes nothing down. `receiver` is the webhook, and prints its port.
//
//   node --import ./scripts/sources.mjs deliveries.ts receiver
//   node --import ./scripts/sources.mjs deliveries.ts mailsvc <port> <events> <other events that wait>      deliveries a second
//   node --import ./scripts/sources.mjs deliveries.ts campaign <port> <events>                              deliveries a second
//   node --import ./scripts/sources.mjs deliveries.ts pool <port> <requests> <connections>                  requests a second
//   node --import ./scripts/sources.mjs deliveries.ts fair <port> <hanging webhooks> <events of each>       ms, 99th percentile
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Mailsvc } from "@mailsvc/sdk";
import { eq } from "drizzle-orm";
import { Pool } from "undici";
import type { App } from "../../packages/server/src/app.ts";
import { assumeEmailHeld } from "../../packages/server/src/db/held.ts";
import type { SqliteDb } from "../../packages/server/src/db/sqlite/database.ts";
import { type NewEvent, recordEvents } from "../../packages/server/src/events/events.ts";
import type { EventStreamWorker } from "../../packages/server/src/events/stream.ts";
import { emitAll } from "../../packages/server/src/marketplace/agent-webhooks/agent-webhooks.ts";
import { makeSecret, sealSecret } from "../../packages/server/src/webhooks/secrets.ts";
import { startApp } from "./app.ts";

const [which, port = "0", count = "0", second = "0"] = process.argv.slice(2);
const EVENTS = Number(count);
const URL = `http://127.0.0.1:${port}/webhook`;
// Each agent has had a few things happen to it.
const PER_ACTIVATION = 2;

const WAKEUP = {
  wakeupId: "wku_01kdvdna00bktj2mqmcfs0rmrb",
  reason: "bench",
  payload: null,
  scheduledFor: new Date(1_800_000_000_000).toISOString(),
};

const measures: Readonly<Record<string, () => Promise<number>>> = {
  mailsvc: () => rate(Number(second)),
  campaign,
  pool,
  fair: () => fair(EVENTS, Number(second)),
};

if (which === "receiver") receiver();
else {
  process.stdout.write(`${await measures[which ?? ""]?.()}\n`);
  process.exit(0);
}

function bodyOf(id: string, activationId: string, sequence: number): string {
  return JSON.stringify({
    id,
    type: "approval_response",
    activationId,
    runId: "run_01kdvdna00bktj2mqmcfs0rmrb",
    sequence,
    timestamp: new Date(1_800_000_000_000).toISOString(),
    messageId: "msg_01kdvdna00bktj2mqmcfs0rmrb",
    decision: "approved",
    comment: "Looks good to me; please send it on Monday morning, not before nine.",
    answeredAt: new Date(1_800_000_000_000).toISOString(),
  });
}

function receiver(): void {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.writeHead(200, { "content-length": "0" }).end());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
}

async function start(): Promise<{ app: App; listing(url: string): Promise<string>; stop(): Promise<void> }> {
  const { app, stop } = await startApp();
  const { deps } = app;
  return {
    app,
    stop,
    listing: async (webhookUrl) => {
      const id = deps.ids("lst");
      const now = deps.clock.now();
      const row = {
        id,
        workspaceId: app.installation.workspaceId,
        slug: id,
        name: "Bench",
        description: "",
        webhookUrl,
        permissions: [],
        permissionsSince: {},
        installRedirects: [],
        version: 1,
        period: 1,
      };
      const secret = sealSecret(deps, id, makeSecret(deps.random));
      const none = { listedAt: now, expiresAt: null, endedAt: null, subscription: null, nextSecret: null, nextSecretAt: null };
      await deps.db.tx((tx) =>
        tx.insert(tx.t.listings).values({ ...row, ...none, state: "LISTED", secret, createdAt: now, updatedAt: now }),
      );
      return id;
    },
  };
}

/** Events in the outbox, as they would be after they were emitted. */
async function fill({ deps }: App, listingId: string, events: number, dueAt: number): Promise<void> {
  for (let i = 0; i < events; i += 1000)
    await deps.db.tx(async (tx) => {
      const activations = Array.from({ length: Math.min(1000, events - i) / PER_ACTIVATION }, () => deps.ids("act"));
      await tx.insertAll(
        tx.t.webhookStreams,
        activations.map((streamId) => ({ streamId, endpointId: listingId, dueAt, claim: null, interrupted: false, held: false })),
      );
      await tx.insertAll(
        tx.t.webhookEvents,
        activations.flatMap((activationId) =>
          Array.from({ length: PER_ACTIVATION }, (_, n) => {
            const id = deps.ids("evt");
            const body = bodyOf(id, activationId, n + 1);
            const rest = {
              subjectId: null,
              sealed: null,
              passesHold: false,
              lastAttempt: null,
              lastAt: null,
              lastMs: null,
              lastClass: null,
              lastStatus: null,
            };
            const state = { state: "pending" as const, attempts: 0, tries: 0, dueAt, lastError: null, lastAnswer: null, settledAt: null };
            const type = "approval_response" as const;
            return {
              id,
              streamId: activationId,
              endpointId: listingId,
              workspaceId: "ws",
              type,
              sequence: n + 1,
              at: dueAt,
              body,
              ...rest,
              ...state,
            };
          }),
        ),
      );
    });
}

/** Activations that are on. */
async function activate({ deps }: App, listingId: string, n: number): Promise<string[]> {
  const now = deps.clock.now();
  const rows = Array.from({ length: n }, () => {
    const id = deps.ids("act");
    const counts = {
      sequence: 0,
      lastEventAt: 0,
      messageSequence: 0,
      creditLimit: null,
      creditsUsed: 0,
      creditsResetAt: now,
      acceptedVersion: 1,
      settings: {},
    };
    const none = {
      keyDeliveredAt: null,
      webhookLastError: null,
      uncoveredAt: null,
      pausedAt: null,
      deactivatedAt: null,
      deactivationReason: null,
    };
    const row = {
      id,
      workspaceId: deps.ids("ws"),
      listingId,
      period: 1,
      living: listingId,
      status: "active" as const,
      pauseReasons: [],
      scopes: [],
    };
    return { ...row, ...counts, ...none, keyHash: id, keyPreview: "", createdAt: now };
  });
  for (let i = 0; i < n; i += 500) await deps.db.tx((tx) => tx.insertAll(tx.t.activations, rows.slice(i, i + 500)));
  return rows.map(({ id }) => id);
}

/** Events a second, while `others` wait for their time. */
async function rate(others: number): Promise<number> {
  const { app, listing, stop } = await start();
  const { deps } = app;
  const now = deps.clock.now();
  for (let i = 0; i < others; i += 10_000) await fill(app, await listing(URL), 10_000, now + 3_600_000);
  const listingId = await listing(URL);
  await fill(app, listingId, EVENTS, now);
  // Flush the events' rows first, so that their writes are not part of the measurement.
  await (deps.db as SqliteDb).exclusive((connection) => connection.pragma("wal_checkpoint(TRUNCATE)"));
  const from = performance.now();
  deps.webhooks.wake([listingId]);
  await deps.queue.idle();
  const took = performance.now() - from;
  const { webhookEvents: e } = deps.db.read.t;
  const arrived = await deps.db.read.$count(e, eq(e.state, "delivered"));
  if (arrived !== EVENTS) throw new Error(`Of ${EVENTS} events ${arrived} arrived.`);
  await stop();
  return (EVENTS * 1000) / took;
}

/**
 * Events a second of a campaign that a developer's webhook gets, from their commit on: numbered, written for the webhook, made, signed
 * and sent, with every outcome on disk.
 */
async function campaign(): Promise<number> {
  const { app, stop } = await startApp();
  const { deps, installation } = app;
  const apiKey = installation.apiKey ?? "";
  const sdk = new Mailsvc({
    apiKey,
    baseUrl: "http://bench",
    fetch: async (input, init) => (await app.http.routed()).fetch(new Request(input, init)),
  });
  const recipients = EVENTS / 2;
  for (let i = 0; i < recipients; i += 500)
    await sdk.contacts.import({ rows: Array.from({ length: 500 }, (_, n) => ({ email: `r${i + n}@reader.example`, firstName: `R${n}` })) });
  const { id } = await sdk.campaigns.create({
    name: "News",
    subjectLine: "News",
    fromEmail: "news@acme.example",
    text: "Hi {{firstName}}.",
  });
  await sdk.campaigns.send(id);
  await deps.queue.idle();
  const emails = await deps.db.read.select({ id: deps.db.read.t.emails.id }).from(deps.db.read.t.emails);
  if (emails.length !== recipients) throw new Error(`Of ${recipients} recipients ${emails.length} got the campaign.`);
  await sdk.webhooks.create({ url: URL });
  const at = deps.clock.now();
  const { workspaceId } = installation;
  const events = emails.flatMap(({ id: emailId }): NewEvent[] => {
    const common = { workspaceId, emailId: assumeEmailHeld(emailId), campaignId: id, at, machine: false };
    return [
      { ...common, type: "email.opened" },
      { ...common, type: "email.clicked", data: { url: "https://acme.example/news?utm_source=mailsvc" } },
    ];
  });
  // Counting them for the campaign is no part of this.
  const stream = deps.eventStream as EventStreamWorker;
  await stream.stop();
  for (let i = 0; i < events.length; i += 1000) await deps.db.tx((tx) => recordEvents(tx, deps, events.slice(i, i + 1000)));
  await (deps.db as SqliteDb).exclusive((connection) => connection.pragma("wal_checkpoint(TRUNCATE)"));
  const from = performance.now();
  stream.start();
  await deps.queue.idle();
  const took = performance.now() - from;
  const arrived = deps.webhooks.attempts.get("ok");
  if (arrived !== EVENTS) throw new Error(`Of ${EVENTS} events ${arrived} arrived.`);
  await stop();
  return (EVENTS * 1000) / took;
}

/** The 99th percentile of the time from an event's commit to its arrival, ms, while other webhooks hang with this many events each. */
async function fair(hanging: number, each: number): Promise<number> {
  const { app, listing, stop } = await start();
  const { deps } = app;
  let heard = (): void => {};
  const good = createServer((request, response) => {
    request.resume();
    request.on("end", () => response.end(heard()));
  });
  const bad = createServer(() => {});
  for (const server of [good, bad]) await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const urlOf = (server: typeof good): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const [mine = ""] = await activate(app, await listing(urlOf(good)), 1);
  const theirs: string[] = [];
  for (let i = 0; i < hanging; i += 1)
    theirs.push(...(await activate(app, await listing(urlOf(bad).replace("127.0.0.1", `w${i}.localhost`)), each)));
  const tell = (ids: string[]): Promise<void> =>
    deps.db.tx((tx) => emitAll(tx, deps, ids, { type: "agent.wakeup", at: deps.clock.now(), fields: WAKEUP }));
  for (let i = 0; i < theirs.length; i += 500) await tell(theirs.slice(i, i + 500));
  const took: number[] = [];
  // Longer than a webhook may take, so that those which hang have their second attempts as well.
  for (const end = performance.now() + 12_000; performance.now() < end; ) {
    const from = performance.now();
    const arrived = new Promise<void>((resolve) => {
      heard = resolve;
    });
    await tell([mine]);
    await arrived;
    took.push(performance.now() - from);
    await new Promise((next) => setTimeout(next, 20));
  }
  good.closeAllConnections();
  bad.closeAllConnections();
  await stop();
  return took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Number.NaN;
}

/** Requests a second. */
async function pool(): Promise<number> {
  const atATime = Number(second);
  const origin = new Pool(`http://127.0.0.1:${port}`, { connections: atATime });
  const bodies = Array.from({ length: EVENTS }, (_, n) => bodyOf("evt_01kdvdna00bktj2mqmcfs0rmrb", "act_01kdvdna00bktj2mqmcfs0rmrb", n));
  let at = 0;
  const headers = { "content-type": "application/json" };
  const work = async (): Promise<void> => {
    for (let body = bodies[at++]; body !== undefined; body = bodies[at++]) {
      const answer = await origin.request({ path: "/webhook", method: "POST", headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`The receiver answered ${answer.statusCode}.`);
    }
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: atATime }, work));
  const took = performance.now() - from;
  await origin.close();
  return (EVENTS * 1000) / took;
}
