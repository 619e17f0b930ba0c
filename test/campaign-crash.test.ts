import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { MAX_MARKED_AHEAD } from "../packages/server/src/delivery/marks.ts";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { type Api, all, call, total, until } from "./support/api.ts";
import { startCluster } from "./support/cluster.ts";
import { chooseSeed, countKills, type KillRecord, recordKills } from "./support/kills.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { type SmtpSink, smtpSink } from "./support/smtp-sink.ts";
import { type Ledger, newLedger, startTraffic, type Traffic } from "./support/traffic.ts";

// A few kills for each run; KILLS=50 CAMPAIGN_RECIPIENTS=20000 for a long one.
const KILLS = countKills(2);
const RECIPIENTS = Number(process.env.CAMPAIGN_RECIPIENTS ?? 400);
const TIMEOUT_MS = 120_000 + KILLS * 15_000 + RECIPIENTS * 30;
/** Connections to the next hop, and so the messages one kill can leave in doubt. */
const POOL = 8;
const IMPORT = 200;
/** Connections that send single mails beside the campaign. */
const CONNECTIONS = 6;
const OPEN = ["queued", "sending", "deferred"];

interface Row {
  readonly source: string;
  readonly status: string;
  readonly n: number;
}

interface SingleMail {
  readonly id: string;
  readonly status: string;
  readonly messageId: string;
  readonly inDoubt: boolean;
  readonly tags: Record<string, string>;
}

interface Recipient {
  readonly emailId: string;
  readonly to: string;
  readonly status: string;
  readonly inDoubt: boolean;
}

/** The counted recipients of a campaign and its rows by state, in one statement, so of one instant. */
const LAW = (id: string): string =>
  `select 'counted' as source, kind as status, cast(sum(count) as integer) as n from tallies
     where owner = '${id}' and kind = 'recipients' group by kind having sum(count) <> 0
   union all select 'rows', status, cast(count(*) as integer) from emails where campaign_id = '${id}' group by status`;

const wait = (ms: number): Promise<void> => new Promise((next) => setTimeout(next, ms));

/** The number of recipients in each state. Fails unless as many are counted. */
function checkLaw(rows: readonly Row[]): Map<string, number> {
  const of = (source: string) => new Map(rows.filter((row) => row.source === source).map(({ status, n }) => [status, Number(n)]));
  expect(of("counted").get("recipients") ?? 0).toBe([...of("rows").values()].reduce((sum, n) => sum + n, 0));
  return of("rows");
}

function isSending(states: ReadonlyMap<string, number>): boolean {
  return OPEN.some((status) => (states.get(status) ?? 0) > 0) || states.size === 0;
}

/** Imports contacts and starts a campaign to them. */
async function startCampaign(api: Api): Promise<string> {
  for (let i = 0; i < RECIPIENTS; i += IMPORT) {
    const rows = Array.from({ length: Math.min(IMPORT, RECIPIENTS - i) }, (_, n) => ({
      email: `r${i + n}@reader.example`,
      firstName: `R${i + n}`,
    }));
    await call(api, "POST", "/api/v1/contacts/import", { rows });
  }
  const fields = { name: "News", subjectLine: "Hello {{firstName}}", fromEmail: "news@acme.example", text: "It works, {{firstName}}." };
  const { id } = await call<{ id: string }>(api, "POST", "/api/v1/campaigns", fields);
  await call(api, "POST", `/api/v1/campaigns/${id}/send`);
  return id;
}

/** Sends single mails beside the campaign. */
function startSingles(api: Api, ledger: Ledger, random: () => number): Traffic {
  return startTraffic(api, ledger, { connections: CONNECTIONS, pause: 40, random });
}

/** State of the test when servers were killed. */
interface Scene extends Pick<KillRecord, "database" | "seed"> {
  readonly campaignId: string;
  readonly ledger: Ledger;
  readonly sink: SmtpSink;
  /** Kills before the campaign was over. */
  readonly whileSending: number;
}

/** Counts the times the mail server took each email. */
function countArrivals({ taken }: SmtpSink): Map<string, number> {
  return new Map([...taken].map(([messageId, n]) => [/^<(em_[^@]+)@/.exec(messageId)?.[1] ?? messageId, n]));
}

/** Waits until all mail has left, and checks that each recipient got it, and nobody twice unless it is listed as in doubt. */
async function checkEnd(api: Api, scene: Scene): Promise<void> {
  const { campaignId, ledger, sink, whileSending, database, seed } = scene;
  const status = async (): Promise<string> => (await call<{ status: string }>(api, "GET", `/api/v1/campaigns/${campaignId}`)).status;
  const stats = async (): Promise<string> =>
    JSON.stringify((await call<{ recipients: unknown }>(api, "GET", `/api/v1/campaigns/${campaignId}/stats`)).recipients);
  await until(90 + RECIPIENTS / 50, async () => (await status()) === "SENT", stats);
  const recipients = await all<Recipient>(api, `/api/v1/campaigns/${campaignId}/recipients`);
  expect(new Set(recipients.map((r) => r.to)).size).toBe(RECIPIENTS);
  expect(recipients.filter((r) => r.status !== "sent")).toEqual([]);
  const singles = await finishSingles(api, ledger);
  const times = countArrivals(sink);
  expect(recipients.filter((r) => !times.has(r.emailId))).toEqual([]);
  expect(singles.filter(({ id }) => !times.has(id))).toEqual([]);
  const mails = [...recipients.map(({ emailId, inDoubt }) => ({ id: emailId, inDoubt })), ...singles];
  const doubles = mails.filter(({ id }) => (times.get(id) ?? 0) > 1);
  expect(doubles.filter(({ inDoubt }) => !inDoubt)).toEqual([]);
  // A kill leaves in doubt what is under way on the connections, and what is marked ahead of it.
  const inDoubt = mails.filter((mail) => mail.inDoubt).length;
  expect(inDoubt).toBeLessThanOrEqual(KILLS * (POOL + MAX_MARKED_AHEAD));
  const verified = await call(api, "GET", `/api/v1/campaigns/${campaignId}/verify`);
  expect(verified).toEqual({ correct: true, recipients: RECIPIENTS, differences: [] });
  const acknowledged = ledger.wishes.filter(({ promised }) => promised !== null).length;
  recordKills({
    suite: "a campaign and single sends",
    database,
    seed,
    kills: KILLS,
    acknowledged: mails.length,
    missing: mails.filter(({ id }) => !times.has(id)).length,
    repeated: doubles.length,
    unlisted: doubles.filter((mail) => !mail.inDoubt).length,
  });
  console.log(`${whileSending} kills while the campaign was sent; ${acknowledged} sends acknowledged, ${inDoubt} mails in doubt`);
}

/** Asks again for the answers that were lost, lets all single mail leave, and checks that each send that was acknowledged had its effect once. */
async function finishSingles(api: Api, ledger: Ledger): Promise<SingleMail[]> {
  const ending = startTraffic(api, ledger, { connections: CONNECTIONS, pause: 0, random: Math.random });
  await until(
    30,
    async () => ledger.lost.length === 0,
    async () => `${ledger.lost.length} requests unanswered`,
  );
  await ending.stop();
  const open = async (): Promise<number[]> => Promise.all(OPEN.map((status) => total(api, `/api/v1/emails?status=${status}`)));
  await until(
    90,
    async () => (await open()).every((n) => n === 0),
    async () => `${OPEN}: ${await open()}`,
  );
  const singles = (await all<SingleMail>(api, "/api/v1/emails")).filter(({ tags }) => tags.wish !== undefined);
  const byWish = Map.groupBy(singles, ({ tags }) => tags.wish ?? "");
  const acknowledged = ledger.wishes.filter(({ promised }) => promised !== null);
  expect(acknowledged.length).toBeGreaterThan(KILLS);
  expect(acknowledged.filter(({ tag, promised }) => !matches(byWish.get(tag), promised))).toEqual([]);
  expect(ledger.wishes.filter(({ tag, recipients }) => ![0, recipients].includes(byWish.get(tag)?.length ?? 0))).toEqual([]);
  expect(singles.filter(({ status }) => status !== "sent")).toEqual([]);
  expect(ledger.refused).toEqual([]);
  expect(ledger.contradictions).toEqual([]);
  return singles;
}

function matches(mails: readonly SingleMail[] = [], promised: readonly string[] | null): boolean {
  return JSON.stringify(mails.map(({ id }) => id).sort()) === JSON.stringify([...(promised ?? [])].sort());
}

test("a campaign and single mails whose server is killed again and again lose nobody, and double only what is listed as in doubt", {
  timeout: TIMEOUT_MS,
}, async () => {
  const seed = chooseSeed();
  const { fraction: random } = seededRandom(seed);
  const ledger = newLedger();
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-campaign-"));
  const sink = await smtpSink(() => random() * 8);
  let running: ServerProcess | undefined;
  const start = async (): Promise<Api> => {
    const flags = ["--dev", "--smtp-url", `${sink.url}?pool=${POOL}&messages=1000`];
    running = startServer({ data: join(folder, "data"), flags });
    const ready = await running.ready();
    return { url: ready?.url ?? "", apiKey: ready?.apiKey ?? "" };
  };
  try {
    let api = await start();
    const campaignId = await startCampaign(api);
    let whileSending = 0;
    for (let kills = 0; kills < KILLS; kills += 1) {
      const traffic = startSingles(api, ledger, random);
      await wait(random() ** 2 * 400);
      expect(await running?.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
      await traffic.stop();
      const db = new Database(join(folder, "data", "mailsvc.db"));
      if (isSending(checkLaw(db.prepare(LAW(campaignId)).all() as Row[]))) whileSending += 1;
      db.close();
      api = await start();
    }
    await checkEnd(api, { campaignId, ledger, sink, whileSending, database: "SQLite", seed });
  } finally {
    await running?.kill("SIGKILL");
    await sink.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("two servers on Postgres share a campaign and single mails while one after the other is killed", { timeout: TIMEOUT_MS }, async () => {
  const seed = chooseSeed();
  const { fraction: random } = seededRandom(seed);
  const ledger = newLedger();
  const sink = await smtpSink(() => random() * 8);
  const cluster = await startCluster(2, [
    "--trust-sender",
    "acme.example,sender.test",
    "--smtp-url",
    `${sink.url}?pool=${POOL}&messages=1000`,
  ]);
  const api = (place: number): Api => cluster.members[place]?.api as Api;
  try {
    const campaignId = await startCampaign(api(0));
    let whileSending = 0;
    for (let kills = 0; kills < KILLS; kills += 1) {
      const place = kills % 2;
      const traffic = startSingles(api(place), ledger, random);
      await wait(random() ** 2 * 800);
      await cluster.members[place]?.process.kill("SIGKILL");
      await traffic.stop();
      if (isSending(checkLaw(await cluster.query<Row>(LAW(campaignId))))) whileSending += 1;
      await cluster.replace(place);
    }
    await checkEnd(api(1), { campaignId, ledger, sink, whileSending, database: "Postgres", seed });
  } finally {
    await cluster.stop();
    await sink.close();
  }
});

test("pause, resume and cancel at the same moment on two servers leave one state, and no mail goes out after a cancel", {
  timeout: TIMEOUT_MS,
}, async () => {
  const { fraction: random } = seededRandom(chooseSeed());
  const sink = await smtpSink(() => random() * 8);
  const cluster = await startCluster(2, ["--trust-sender", "acme.example", "--smtp-url", `${sink.url}?pool=${POOL}&messages=1000`]);
  const api = (place: number): Api => cluster.members[place]?.api as Api;
  try {
    const id = await startCampaign(api(0));
    const act = (place: number, verb: string): Promise<string> =>
      call<{ status: string }>(api(place), "POST", `/api/v1/campaigns/${id}/${verb}`).then(
        ({ status }) => status,
        (error: Error) => (error.message.includes("invalid_state") ? "refused" : Promise.reject(error)),
      );
    for (let round = 0; round < 6; round += 1) {
      await Promise.all([act(0, "pause"), act(1, "resume"), act(0, "resume"), act(1, "pause")]);
      checkLaw(await cluster.query<Row>(LAW(id)));
    }
    await act(0, "resume");
    await wait(200);
    const ended = await Promise.all([act(0, "cancel"), act(1, "pause"), act(0, "resume"), act(1, "cancel")]);
    expect(ended.filter((status) => status === "CANCELLED").length).toBeGreaterThanOrEqual(1);
    const open = async (): Promise<number> => {
      const states = checkLaw(await cluster.query<Row>(LAW(id)));
      return (states.get("queued") ?? 0) + (states.get("sending") ?? 0) + (states.get("deferred") ?? 0);
    };
    await until(
      60,
      async () => (await open()) === 0,
      async () => `${await open()} open`,
    );
    const taken = sink.taken.size;
    await wait(300);
    expect(sink.taken.size).toBe(taken);
    const recipients = await all<Recipient>(api(0), `/api/v1/campaigns/${id}/recipients`);
    expect(recipients.filter((r) => r.status !== "sent" && r.status !== "cancelled")).toEqual([]);
    expect(recipients.filter((r) => r.status === "sent").length).toBe(taken);
    expect([...sink.taken.values()].filter((n) => n > 1)).toEqual([]);
    expect(await call(api(1), "GET", `/api/v1/campaigns/${id}`)).toMatchObject({ status: "CANCELLED" });
  } finally {
    await cluster.stop();
    await sink.close();
  }
});
