import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { type Api, all, call, total, until } from "./support/api.ts";
import { startCluster } from "./support/cluster.ts";
import { chooseSeed, countKills, type KillRecord, recordKills } from "./support/kills.ts";
import { type ServerProcess, startServer } from "./support/server.ts";

// A few kills for each run; KILLS=50 for a long one.
const KILLS = countKills(2);
const TIMEOUT_MS = 120_000 + KILLS * 15_000;
// Two events each.
const BATCH = 50;
const FLAGS = ["--dev", "--rate-limit", "send=1000000", "--rate-limit", "read=1000000"];

interface Service {
  /** One of the servers that run, at random. */
  api(): Api;
  /** Kills a server and starts it again. */
  kill(): Promise<void>;
}

const wait = (ms: number): Promise<void> => new Promise((next) => setTimeout(next, ms));

/** Sends mail through any server until it is stopped; requests to one that dies are lost. */
function startSending(service: Service): { stop(): Promise<void> } {
  let over = false;
  const client = async (name: string): Promise<void> => {
    for (let round = 0; !over; round += 1) {
      const to = Array.from({ length: BATCH }, (_, i) => `${name}-${round}-${i}@reader.example`);
      await call(service.api(), "POST", "/api/v1/send", { from: "hi@acme.example", to, subject: "Hello", text: "It works." }).catch(() =>
        wait(20),
      );
    }
  };
  const clients = Promise.all(["a", "b"].map(client));
  return {
    stop: async () => {
      over = true;
      await clients;
    },
  };
}

/** Follows the events as a client would that keeps nothing but the last sequence it has seen. */
function startPolling(service: Service, random: () => number) {
  const seen: Event[] = [];
  let over = false;
  const poll = async (): Promise<void> => {
    while (!over) {
      const after = seen.at(-1)?.sequence ?? 0;
      const limit = 1 + Math.floor(random() * 100);
      try {
        const { data } = await call<{ data: Event[] }>(service.api(), "GET", `/api/v1/v1/events?after=${after}&limit=${limit}`);
        seen.push(...data);
        if (data.length === 0) await wait(5);
      } catch {
        await wait(20);
      }
    }
  };
  const polling = poll();
  return {
    seen,
    stop: async () => {
      over = true;
      await polling;
    },
  };
}

async function checkPoller(service: Service, about: Pick<KillRecord, "database" | "seed">): Promise<void> {
  const { fraction: random } = seededRandom(about.seed);
  const poller = startPolling(service, random);
  const sending = startSending(service);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = poller.seen.length;
    await until(
      60,
      async () => poller.seen.length >= before + 2 * BATCH,
      async () => `${poller.seen.length} events were seen`,
    );
    await wait(random() ** 2 * 300);
    await service.kill();
  }
  await sending.stop();
  const open = async (): Promise<number> => {
    const counts = await Promise.all(["queued", "sending"].map((status) => total(service.api(), `/api/v1/emails?status=${status}`)));
    return counts.reduce((sum, n) => sum + n, 0);
  };
  await until(
    120,
    async () => (await open()) === 0,
    async () => `${await open()} emails are open`,
  );
  const listed = (await all<Event>(service.api(), "/api/v1/v1/events")).toReversed();
  await until(
    60,
    async () => poller.seen.length >= listed.length,
    async () => `${poller.seen.length} of ${listed.length} events were seen`,
  );
  await poller.stop();
  // Each once, in order, without a gap: the poller has seen what there is.
  expect(poller.seen.map(({ sequence }) => sequence)).toEqual(poller.seen.map((_, i) => i + 1));
  expect(poller.seen.map(({ id }) => id)).toEqual(listed.map(({ id }) => id));
  const delivered = await total(service.api(), "/api/v1/emails?status=delivered");
  expect(poller.seen.filter(({ type }) => type === "email.delivered").length).toBeGreaterThanOrEqual(Math.min(delivered, 10_000));
  const counts = { acknowledged: poller.seen.length, missing: 0, repeated: 0, unlisted: null };
  recordKills({ suite: "events that are polled", ...about, kills: KILLS, ...counts });
}

test("a poller sees every event once and in order while its server is killed again and again", { timeout: TIMEOUT_MS }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-poller-"));
  let running: ServerProcess | undefined;
  let api: Api = { url: "", apiKey: "" };
  const start = async (): Promise<void> => {
    running = startServer({ data: join(folder, "data"), flags: FLAGS });
    const ready = await running.ready();
    api = { url: ready?.url ?? "", apiKey: ready?.apiKey ?? "" };
  };
  try {
    await start();
    const kill = async (): Promise<void> => {
      expect(await running?.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
      await start();
    };
    await checkPoller({ api: () => api, kill }, { database: "SQLite", seed: chooseSeed() });
  } finally {
    await running?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});

test("a poller that asks two servers in turn sees every event once and in order while they are killed", {
  timeout: TIMEOUT_MS,
}, async () => {
  const seed = chooseSeed();
  const { fraction: random } = seededRandom(seed);
  const cluster = await startCluster(2, FLAGS);
  let kills = 0;
  const kill = async (): Promise<void> => {
    const place = kills % 2;
    kills += 1;
    await cluster.members[place]?.process.kill("SIGKILL");
    await cluster.replace(place);
  };
  try {
    await checkPoller({ api: () => cluster.members[random() < 0.5 ? 0 : 1]?.api as Api, kill }, { database: "Postgres", seed });
  } finally {
    await cluster.stop();
  }
});
