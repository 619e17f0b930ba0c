import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event } from "@mailsvc/sdk/contract";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { type Receiver, receiver } from "../packages/server/test/receiver.ts";
import { type Api, all, call, total, until } from "./support/api.ts";
import { startCluster } from "./support/cluster.ts";
import { chooseSeed, countKills, type KillRecord, recordKills } from "./support/kills.ts";
import { type ServerProcess, startServer } from "./support/server.ts";

const KILLS = countKills(2);
const TIMEOUT_MS = 120_000 + KILLS * 15_000;
const RECIPIENTS = 150;
const BATCH = 50;
/** Requests to one origin at a time, and outcomes that wait to be recorded: what one kill can have sent again. */
const AGAIN = 64 + 2 * 256;

interface Sent {
  readonly id: string;
  readonly secret: string;
}

interface Delivery {
  readonly eventId: string;
  readonly state: string;
}

const wait = (ms: number): Promise<void> => new Promise((next) => setTimeout(next, ms));

/** A receiver that answers after up to 20 ms, and not at all while a server dies. */
function slowReceiver(random: () => number): Promise<Receiver> {
  return receiver(() => (response) => void setTimeout(() => response.writeHead(204).end(), random() * 20));
}

/** Sends mail whose events a webhook is to get. */
async function sendMails(api: Api, name: string): Promise<void> {
  for (let i = 0; i < RECIPIENTS; i += BATCH)
    await call(api, "POST", "/api/v1/send", {
      from: "hi@acme.example",
      to: Array.from({ length: BATCH }, (_, n) => `${name}-${i + n}@reader.example`),
      subject: "Hello",
      text: "It works.",
    });
}

/** Waits until all mails are sent and nothing waits for the webhook, and checks what arrived. */
async function checkEnd(api: Api, { id, secret }: Sent, hook: Receiver, about: Pick<KillRecord, "database" | "seed">): Promise<void> {
  const open = async (): Promise<number> => {
    const mails = await Promise.all(["queued", "sending"].map((status) => total(api, `/api/v1/emails?status=${status}`)));
    const waiting = await Promise.all(
      ["pending", "queued"].map((state) => total(api, `/api/v1/v1/webhooks/${id}/deliveries?state=${state}`)),
    );
    return [...mails, ...waiting].reduce((sum, n) => sum + n, 0);
  };
  await until(
    120,
    async () => (await open()) === 0 && (await total(api, `/api/v1/v1/webhooks/${id}/deliveries`)) >= 2 * RECIPIENTS,
    async () => `${await open()} open, ${hook.received.length} received`,
  );
  const events = (await all<Event>(api, "/api/v1/v1/events?type=email.*")).reverse();
  const deliveries = await all<Delivery>(api, `/api/v1/v1/webhooks/${id}/deliveries`);
  expect(new Set(deliveries.map(({ eventId }) => eventId))).toEqual(new Set(events.map((event) => event.id)));
  expect(deliveries.filter(({ state }) => state !== "delivered")).toEqual([]);
  // None is lost, none is made up, and all attempts of one are the same bytes.
  const bodies = Map.groupBy(hook.received, ({ event }) => event.id);
  expect(new Set(bodies.keys())).toEqual(new Set(events.map((event) => event.id)));
  for (const same of bodies.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1);
  expect(hook.received.length - bodies.size).toBeLessThanOrEqual(KILLS * AGAIN);
  // The events of one email arrive in their order.
  const first = [...bodies.values()].map(([one]) => one?.event as Event);
  for (const ofEmail of Map.groupBy(first, ({ emailId }) => emailId).values()) {
    const numbers = ofEmail.map(({ sequence }) => sequence);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  }
  const verifier = new StandardWebhook(secret);
  for (const { body, headers } of hook.received.slice(-50)) verifier.verify(body, headers as Record<string, string>);
  const counts = { acknowledged: events.length, missing: 0, repeated: hook.received.length - bodies.size, unlisted: null };
  recordKills({ suite: "events to a webhook", ...about, kills: KILLS, ...counts });
}

test("a developer's webhook gets every event of a server that is killed again and again", { timeout: TIMEOUT_MS }, async () => {
  const seed = chooseSeed();
  const { fraction: random } = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-webhooks-"));
  await using hook = await slowReceiver(random);
  let running: ServerProcess | undefined;
  const start = async (): Promise<Api> => {
    running = startServer({ data: join(folder, "data"), flags: ["--dev", "--rate-limit", "send=1000000"] });
    const ready = await running.ready();
    return { url: ready?.url ?? "", apiKey: ready?.apiKey ?? "" };
  };
  try {
    let api = await start();
    const webhook = await call<Sent>(api, "POST", "/api/v1/v1/webhooks", { url: hook.url, events: ["email.*"] });
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = hook.received.length;
      await sendMails(api, `k${kill}`);
      await until(
        60,
        async () => hook.received.length > before,
        async () => `nothing arrived\n${running?.stderr().slice(-2000)}`,
      );
      await wait(random() ** 2 * 300);
      expect(await running?.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
      api = await start();
    }
    await sendMails(api, "last");
    await checkEnd(api, webhook, hook, { database: "SQLite", seed });
  } finally {
    await running?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});

test("two servers share a developer's webhook while one after the other is killed", { timeout: TIMEOUT_MS }, async () => {
  const seed = chooseSeed();
  const { fraction: random } = seededRandom(seed);
  await using hook = await slowReceiver(random);
  const cluster = await startCluster(2, ["--dev", "--rate-limit", "send=1000000"]);
  const api = (place: number): Api => cluster.members[place]?.api as Api;
  try {
    const webhook = await call<Sent>(api(0), "POST", "/api/v1/v1/webhooks", { url: hook.url, events: ["email.*"] });
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = hook.received.length;
      await Promise.all([sendMails(api(0), `a${kill}`), sendMails(api(1), `b${kill}`)]);
      await until(
        60,
        async () => hook.received.length > before,
        async () => "nothing arrived",
      );
      await wait(random() ** 2 * 300);
      const place = kill % 2;
      await cluster.members[place]?.process.kill("SIGKILL");
      await cluster.replace(place);
    }
    await checkEnd(api(1), webhook, hook, { database: "Postgres", seed });
  } finally {
    await cluster.stop();
  }
});
