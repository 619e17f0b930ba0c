import { expect, test } from "vitest";
import { MAX_MARKED_AHEAD } from "../packages/server/src/delivery/marks.ts";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { until } from "./support/api.ts";
import { type Cluster, startCluster } from "./support/cluster.ts";
import { smtpSink } from "./support/smtp-sink.ts";

const SERVERS = 3;
// CLUSTER_REQUESTS=200 and more put the servers under load for longer.
const REQUESTS = Number(process.env.CLUSTER_REQUESTS ?? 40);
const BATCH = 50;
/** Clients that send at a time. */
const CLIENTS = 6;
const KILLS = 3;
/** Connections of each server to the next hop, and so the messages one kill can leave in doubt. */
const POOL = 8;

const wait = (ms: number): Promise<void> => new Promise((next) => setTimeout(next, ms));

interface EmailRow {
  id: string;
  to_text: string;
  from_text: string;
  status: string;
  in_doubt: boolean;
}

/** Sends one batch, again and again, through whichever server answers, until it is acknowledged. */
const sendUntilAcknowledged = async (cluster: Cluster, n: number, random: () => number): Promise<string[]> => {
  const body = JSON.stringify({
    from: "Acme <hi@acme.example>",
    to: Array.from({ length: BATCH }, (_, i) => `r${n}-${i}@reader.example`),
    subject: "Hello",
    text: "It works.",
  });
  for (;;) {
    const member = cluster.members[Math.floor(random() * SERVERS)];
    try {
      const response = await fetch(`${member?.api.url}/api/v1/send`, {
        method: "POST",
        headers: { authorization: `Bearer ${cluster.apiKey}`, "content-type": "application/json", "idempotency-key": `batch-${n}` },
        body,
        signal: AbortSignal.timeout(15_000),
      });
      if (response.ok) return ((await response.json()) as { ids: string[] }).ids;
      // Down for the moment, and said so. Anything else is a fault.
      if (response.status !== 503) throw new Error(`${response.status} ${await response.text()}`);
      expect(response.headers.get("retry-after")).toBe("1");
    } catch (error) {
      if (!(error instanceof TypeError) && (error as Error).name !== "TimeoutError") throw error;
    }
    await wait(100);
  }
};

/** Sends everything, with `trouble` at the same time, and waits until all of it has left. Answers when what happened, in seconds. */
const sendAll = async (cluster: Cluster, random: () => number, trouble: (sent: () => number) => Promise<void>) => {
  const from = performance.now();
  const seconds = (): number => (performance.now() - from) / 1000;
  const acknowledged: string[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < REQUESTS) {
      next += 1;
      acknowledged.push(...(await sendUntilAcknowledged(cluster, next, random)));
    }
  };
  let accepted = 0;
  const clients = Promise.all(Array.from({ length: CLIENTS }, client)).then(() => {
    accepted = seconds();
  });
  await Promise.all([clients, trouble(() => acknowledged.length)]);
  for (;;) {
    const open = await cluster.query<{ status: string; n: number }>(
      "select status, count(*)::int as n from emails where status in ('queued', 'sending', 'deferred') group by status",
    );
    if (open.length === 0) break;
    if (seconds() > 240)
      throw new Error(`Still open: ${JSON.stringify(open)}\n${cluster.members.map((m) => m.process.stderr().slice(-2000)).join("\n")}`);
    await wait(200);
  }
  return { acknowledged, accepted, delivered: seconds() };
};

/** Checks the rules that hold for every run, whatever went wrong in it. */
const judge = async (cluster: Cluster, taken: ReadonlyMap<string, number>, acknowledged: readonly string[], mostDoubts: number) => {
  const emails = await cluster.query<EmailRow>(
    "select e.id, e.to_text, c.from_text, e.status, e.in_doubt from emails e join contents c on c.id = e.contents_id",
  );
  const arrived = ({ id }: EmailRow): number => taken.get(`<${id}@acme.example>`) ?? 0;
  // Every request took effect exactly once, whichever server answered it, however often it was repeated.
  expect(emails).toHaveLength(REQUESTS * BATCH);
  expect(new Set(emails.map((e) => e.to_text)).size).toBe(REQUESTS * BATCH);
  expect(new Set(acknowledged)).toEqual(new Set(emails.map((e) => e.id)));
  const lost = emails.filter((e) => arrived(e) === 0);
  const twice = emails.filter((e) => arrived(e) > 1);
  const doubted = emails.filter((e) => e.in_doubt);
  expect(lost).toEqual([]);
  expect(new Set(emails.map((e) => e.status))).toEqual(new Set(["sent"]));
  expect(twice.filter((e) => !e.in_doubt)).toEqual([]);
  expect(doubted.length).toBeLessThanOrEqual(mostDoubts);
  expect([...taken.keys()].filter((id) => !emails.some((e) => id === `<${e.id}@acme.example>`))).toEqual([]);
  // One event each of its beginning and its end: no effect was committed twice.
  const events = await cluster.query<{ type: string; n: number }>(
    "select type, count(*)::int as n from events group by type order by type",
  );
  expect(events).toEqual([
    { type: "email.queued", n: emails.length },
    { type: "email.sent", n: emails.length },
  ]);
  // Nothing is left but the jobs that clean up: none dead, none held. Jobs that look for DNS records may be running.
  const jobs = await cluster.query<{ kind: string; held: boolean }>(
    "select kind, state = 'running' as held from jobs where kind not like '%.recheck' order by kind",
  );
  expect(jobs).toEqual([
    { kind: "idempotency.forget", held: false },
    { kind: "inbox.clearTestMail", held: false },
    { kind: "metrics.receivers", held: false },
    { kind: "retention.sweep", held: false },
  ]);
  return { twice: twice.length, doubted: doubted.length };
};

const verifySender = (cluster: Cluster): Promise<unknown> =>
  cluster.query(
    `insert into senders (id, workspace_id, kind, value, status, token, created_at, verified_at)
     select 'snd_cluster', id, 'domain', 'acme.example', 'VERIFIED', 'x', 0, 0 from workspaces`,
  );

const setting = async () => {
  const seed = Number(process.env.CLUSTER_SEED ?? Date.now() % 1_000_000);
  const { fraction } = seededRandom(seed);
  const sink = await smtpSink(() => fraction() * 8);
  const cluster = await startCluster(SERVERS, ["--smtp-url", `${sink.url}?pool=${POOL}&messages=1000`]);
  await verifySender(cluster);
  return { seed, random: fraction, sink, cluster };
};

test("three servers, one of which is killed every second: nothing is lost, and nothing sent twice unsaid", async () => {
  const { seed, random, sink, cluster } = await setting();
  try {
    let kills = 0;
    const trouble = async (sent: () => number): Promise<void> => {
      // On a quick machine all is accepted before, but not delivered.
      while (sent() < REQUESTS * BATCH || kills < KILLS) {
        await wait(600 + random() * 800);
        const place = Math.floor(random() * SERVERS);
        await cluster.members[place]?.process.kill("SIGKILL");
        kills += 1;
        await wait(random() * 300);
        await cluster.replace(place);
      }
    };
    const run = await sendAll(cluster, random, trouble);
    const { twice, doubted } = await judge(cluster, sink.taken, run.acknowledged, kills * (POOL + MAX_MARKED_AHEAD));
    console.log(
      `cluster: seed ${seed}, ${kills} kills of ${SERVERS} servers; ${REQUESTS * BATCH} recipients accepted in ${run.accepted.toFixed(1)} s ` +
        `and delivered in ${run.delivered.toFixed(1)} s; ${doubted} in doubt (at most ${kills * (POOL + MAX_MARKED_AHEAD)}), ${twice} of them sent twice, none lost`,
    );
  } finally {
    await cluster.stop();
    await sink.close();
  }
});

test("three servers whose database is restarted in the middle, twice: nothing is lost, and nothing sent twice unsaid", async () => {
  const { seed, random, sink, cluster } = await setting();
  try {
    let restarts = 0;
    const seen = new Set<string>();
    const trouble = async (sent: () => number): Promise<void> => {
      for (const part of [0.3, 0.6]) {
        while (sent() < REQUESTS * BATCH * part) await wait(20);
        await cluster.database.stop();
        for (const { api } of cluster.members) {
          const ready = await fetch(`${api.url}/readyz`);
          const live = await fetch(`${api.url}/healthz`);
          seen.add(`${ready.status} ${ready.headers.get("retry-after")} ${live.status}`);
        }
        await wait(500 + random() * 1000);
        await cluster.database.start();
        restarts += 1;
      }
    };
    const run = await sendAll(cluster, random, trouble);
    // Each says so while the database is away, and lives on.
    expect([...seen]).toEqual(["503 5 200"]);
    for (const { api, process } of cluster.members) {
      // A server says for ten more seconds that requests have failed.
      const ready = () => fetch(`${api.url}/readyz`);
      await until(
        60,
        async () => (await ready()).status === 200,
        async () => (await ready()).text(),
      );
      expect(process.child.exitCode).toBeNull();
    }
    const { twice, doubted } = await judge(cluster, sink.taken, run.acknowledged, restarts * SERVERS * POOL);
    console.log(
      `cluster: seed ${seed}, ${restarts} restarts of the database; ${REQUESTS * BATCH} recipients accepted in ${run.accepted.toFixed(1)} s ` +
        `and delivered in ${run.delivered.toFixed(1)} s; ${doubted} in doubt, ${twice} of them sent twice, none lost`,
    );
  } finally {
    await cluster.stop();
    await sink.close();
  }
});
