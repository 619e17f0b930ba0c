import type { PostgresServer } from "../../packages/server/test/postgres-server.ts";
import { type Contender, call, mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { load, sends } from "../load/load.ts";
import { CONNECTIONS, onPostgres, runPool, startSink } from "./drain.ts";

const RECIPIENTS = 100_000;
const POOL_MAILS = 8000;
const IMPORT = 1000;
const POLL_MS = 100;
// Rounds of single sends during a campaign.
const ROUNDS = 3;

/** Campaigns: how fast, with how much memory, and what single mails notice of them. */
export const campaigns: Bench = {
  name: "campaigns",
  onlyByName: true,
  meaning:
    "A campaign of personalised mail to contacts that are in a segment that was built before, from the request to send to SENT: expansion, rendering, delivery, engagement, events and statistics, with every state on disk. --rows N for fewer than 100,000 recipients. " +
    `nodemailer: its own pool with as many connections (${CONNECTIONS}) to the same sink, one body for all, nothing written down. p99: single sends during a campaign against the same load without one, medians of ${ROUNDS} rounds.`,
  run: async ({ rows }) => {
    const count = Math.min(rows, RECIPIENTS);
    const sink = await startSink();
    const smtp = ["--smtp-url", `smtp://127.0.0.1:${sink.port}?pool=${CONNECTIONS}&messages=1000000`];
    try {
      const pool = await runPool(sink.port, POOL_MAILS);
      const capture = await measure([], null, count);
      const overSmtp = await measure(smtp, null, count);
      const pg = await onPostgres((database) => measure([], database, count));
      const against = "nodemailer pool";
      const figure = (name: string, perSecond: number, than: number): Figure => ({
        name: `campaigns.${name}`,
        value: perSecond,
        unit: "mails/s",
        against,
        ratio: perSecond / pool,
        goal: { op: ">=", than },
      });
      return [
        figure("capture", capture, 3),
        figure("smtp", overSmtp, 1.5),
        figure("pg.capture", pg, 1.5),
        { name: "campaigns.nodemailer", value: pool, unit: "mails/s", against: null, ratio: null },
        ...(await compareTail(smtp, count)),
      ];
    } finally {
      await sink.stop();
    }
  },
};

async function measure(flags: readonly string[], database: PostgresServer | null, count: number): Promise<number> {
  const server = await mailsvc({ flags: [...flags, ...(database ? ["--database-url", database.url] : [])] });
  try {
    const id = await prepare(server, count);
    return await sendCampaign(server, id, count);
  } finally {
    await server.stop();
  }
}

/** Imports contacts, makes a segment of all of them and a campaign to it, and returns its id. */
async function prepare(server: Contender, count: number): Promise<string> {
  return createCampaign(server, await importReaders(server, count));
}

/** Imports contacts and makes a segment of all of them. Returns its id. */
export async function importReaders(server: Contender, count: number): Promise<string> {
  for (let i = 0; i < count; i += IMPORT) {
    const rows = Array.from({ length: Math.min(IMPORT, count - i) }, (_, n) => ({
      email: `reader${i + n}@mail.acme.dev`,
      firstName: `Reader ${i + n}`,
      tags: ["reader"],
      customFields: { plan: n % 2 === 0 ? "gold" : "basic" },
    }));
    await call(server, "POST", "/api/v1/contacts/import", { rows });
  }
  const rules = { field: "tags", operator: "contains", value: "reader" };
  const segment = (await call(server, "POST", "/api/v1/segments", { name: `Readers ${count}`, rules })) as { id: string };
  // As people do: the segment is there before the campaign.
  while (((await call(server, "GET", `/api/v1/segments/${segment.id}`)) as { state: string }).state === "BUILDING")
    await new Promise((next) => setTimeout(next, POLL_MS));
  return segment.id;
}

export async function createCampaign(server: Contender, segmentId: string): Promise<string> {
  const fields = { recipientType: "segment", segmentId, fromEmail: "news@bench.acme.dev" };
  const html = `<p>Dear {{firstName}}, your plan is {{plan}}.</p><p>${"News with a little of everything in it. ".repeat(14)}</p><p><a href="https://acme.dev/news">More</a></p>`;
  const made = { name: "News", subjectLine: "News for {{firstName}}", html, ...fields };
  return ((await call(server, "POST", "/api/v1/campaigns", made)) as { id: string }).id;
}

/** Sends a campaign to its end. Returns mails a second. */
async function sendCampaign(server: Contender, id: string, count: number): Promise<number> {
  const path = `/api/v1/campaigns/${id}`;
  const from = performance.now();
  await call(server, "POST", `${path}/send`);
  while (((await call(server, "GET", path)) as { status: string }).status !== "SENT")
    await new Promise((next) => setTimeout(next, POLL_MS));
  const perSecond = (count * 1000) / (performance.now() - from);
  const { recipients } = (await call(server, "GET", `${path}/stats`)) as { recipients: { total: number; queued: number } };
  if (recipients.total !== count || recipients.queued !== 0) throw new Error(`The statistics say ${JSON.stringify(recipients)}.`);
  return perSecond;
}

/** The p99 of single sends at a moderate load, during a campaign and without one: medians of `ROUNDS`, because one is much by chance. */
async function compareTail(smtp: readonly string[], count: number): Promise<Figure[]> {
  const server = await mailsvc({ flags: smtp });
  try {
    const run = async () => {
      const requests = sends(server.apiKey);
      return (await load({ port: server.port, requests, connections: 4, warmupMs: 500, durationMs: 4000, timeoutMs: 5000 })).p99;
    };
    const without: number[] = [];
    const during: number[] = [];
    const segmentId = await importReaders(server, count);
    for (let round = 0; round < ROUNDS; round++) {
      const path = `/api/v1/campaigns/${await createCampaign(server, segmentId)}`;
      without.push(await run());
      await call(server, "POST", `${path}/send`);
      during.push(await run());
      const { status } = (await call(server, "GET", path)) as { status: string };
      if (status !== "SENDING") throw new Error("The campaign was over before the measurement: take more --rows.");
      await call(server, "POST", `${path}/cancel`);
      while (await isUnderWay(server, path)) await new Promise((next) => setTimeout(next, POLL_MS));
    }
    return [
      {
        name: "campaigns.p99",
        value: median(during),
        unit: "ms",
        against: "without a campaign",
        ratio: median(during) / median(without),
        goal: { op: "<=", than: 2 },
      },
    ];
  } finally {
    await server.stop();
  }
}

/** True while mail of a campaign still waits or is being handed over. */
async function isUnderWay(server: Contender, path: string): Promise<boolean> {
  const { recipients } = (await call(server, "GET", `${path}/stats`)) as { recipients: { queued: number; sending: number } };
  return recipients.queued + recipients.sending > 0;
}
