import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contender, call, type MailsvcContender, mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { load, sends } from "../load/load.ts";
import { createCampaign, importReaders } from "./campaigns.ts";
import { CONNECTIONS, startSink } from "./drain.ts";

const POLL_MS = 500;
/** Single sends a second beside the campaign, and the time for which they are measured. */
const SINGLES = 20;
const SINGLES_MS = 30_000;
/** Recipients of the campaign that the memory is compared with. */
const FEW = 10_000;

/** Measurements of one campaign. */
interface Sent {
  readonly minutes: number;
  /** Duration of the request to send, ms. */
  readonly startMs: number;
  /** Duration of its statistics at the end, ms. */
  readonly statsMs: number;
  /** Resident memory at its largest, MB. */
  readonly residentMb: number;
  /** The most that a reader of events was behind, s. */
  readonly behind: number;
  /** The p99 of single sends beside it, ms. */
  readonly p99: number;
}

/** A campaign to a million people, with single mail beside it. */
export const million: Bench = {
  name: "million",
  onlyByName: true,
  meaning:
    "A campaign of personalised mail to a million contacts (--rows N for others), from the request to send to SENT, with every state on disk, on SQLite and both cores: captured, by SMTP to a sink that keeps nothing, and by SMTP signed with RSA-2048. " +
    `p99: ${SINGLES} single sends a second beside it, each at its time. behind: the most that a reader of events had still to read, in seconds of the campaign. memory: against a campaign to ${FEW.toLocaleString("en-US")}.`,
  run: async ({ rows }) => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-million-"));
    const keyFile = join(folder, "dkim.pem");
    writeFileSync(keyFile, generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }));
    const sink = await startSink();
    const smtp = ["--smtp-url", `smtp://127.0.0.1:${sink.port}?pool=${CONNECTIONS}&messages=1000000`];
    const ways = { captured: [], smtp, signed: [...smtp, "--dkim", `bench.acme.dev:bench:${keyFile}`] };
    const data = join(folder, "data");
    const on = async <T>(flags: readonly string[], run: (server: MailsvcContender) => Promise<T>): Promise<T> => {
      const server = await mailsvc({ data, flags, cores: "all" });
      try {
        return await run(server);
      } finally {
        await server.stop();
      }
    };
    try {
      const few = await on([], async (server) => send(server, await importReaders(server, FEW), FEW));
      // The segment has those few among it.
      const segmentId = await on([], (server) => importReaders(server, rows));
      const figures: Figure[] = [];
      for (const [way, flags] of Object.entries(ways)) {
        const sent = await on(flags, (server) => send(server, segmentId, rows));
        figures.push(...toFigures(way, sent, few));
      }
      return figures;
    } finally {
      await sink.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function toFigures(way: string, sent: Sent, few: Sent): Figure[] {
  const alone = { against: null, ratio: null };
  return [
    { name: `million.${way}`, value: sent.minutes, unit: "minutes", ...alone, goal: { op: "<=", than: 8 } },
    { name: `million.${way}.p99`, value: sent.p99, unit: "ms", ...alone, goal: { op: "<=", than: 100 } },
    { name: `million.${way}.behind`, value: sent.behind, unit: "s", ...alone, goal: { op: "<=", than: 2 } },
    { name: `million.${way}.start`, value: sent.startMs, unit: "ms", ...alone, goal: { op: "<=", than: 2000 } },
    { name: `million.${way}.stats`, value: sent.statsMs, unit: "ms", ...alone, goal: { op: "<", than: 20 } },
    {
      name: `million.${way}.memory`,
      value: sent.residentMb,
      unit: "MB",
      against: `${FEW.toLocaleString("en-US")} recipients`,
      ratio: sent.residentMb / few.residentMb,
    },
  ];
}

/** Sends a new campaign to a segment, and single mail beside it. */
async function send(server: MailsvcContender, segmentId: string, count: number): Promise<Sent> {
  const path = `/api/v1/campaigns/${await createCampaign(server, segmentId)}`;
  const [before, from] = [await lastEvent(server), performance.now()];
  await call(server, "POST", `${path}/send`);
  const startMs = performance.now() - from;
  const singles = load({
    ...{ port: server.port, requests: sends(server.apiKey), connections: 4, rate: SINGLES },
    ...{ warmupMs: 1000, durationMs: SINGLES_MS, timeoutMs: 5000 },
  });
  let residentMb = 0;
  let unread = 0;
  do {
    await new Promise((next) => setTimeout(next, POLL_MS));
    residentMb = Math.max(residentMb, Number(execFileSync("ps", ["-o", "rss=", "-p", `${server.pid}`], { encoding: "utf8" })) / 1024);
    const { data } = (await call({ url: server.url, apiKey: server.operatorKey }, "GET", "/api/v1/readers")) as {
      data: { unread: number }[];
    };
    unread = Math.max(unread, ...data.map((reader) => reader.unread));
  } while (((await call(server, "GET", path)) as { status: string }).status !== "SENT");
  const ms = performance.now() - from;
  const events = (await lastEvent(server)) - before;
  const { p99 } = await singles;
  const times: number[] = [];
  for (let i = 0; i < 20; i++) {
    const since = performance.now();
    const { recipients } = (await call(server, "GET", `${path}/stats`)) as { recipients: { total: number; queued: number } };
    times.push(performance.now() - since);
    if (recipients.total !== count || recipients.queued !== 0) throw new Error(`The statistics say ${JSON.stringify(recipients)}.`);
  }
  return { minutes: ms / 60_000, startMs, statsMs: median(times), residentMb, behind: (unread * ms) / 1000 / events, p99 };
}

/** The number of the newest event. */
async function lastEvent(server: Contender): Promise<number> {
  const { data } = (await call(server, "GET", "/api/v1/events?limit=1")) as { data: { sequence: number }[] };
  return data[0]?.sequence ?? 0;
}
