import { type Contender, call } from "../contenders.ts";
import { cpuOf } from "../cpu.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { DAYS, DOMAINS, insertMails } from "../load/mails.ts";
import { openPostgres, openSqlite, type Store } from "../stores.ts";
import { CONNECTIONS, deliverAll, startSink } from "./drain.ts";

const MAILS = 8000;
const WARM_UP = 1000;
const MOST = 1_000_000;
const ROUNDS = 15;
const WARM_UP_ROUNDS = 5;

const QUESTIONS = {
  total: "",
  zone: "?zone=Europe/Berlin",
  domains: "?by=domain&zone=Asia/Kolkata",
  tags: "?by=tag&interval=all",
} as const;

const MONTH =
  `What 30 days take to answer, with a million mails to ${DOMAINS} domains in ${DAYS} of them: all mail by day, the same in another time zone, by domain and day, by tag. ` +
  "read: processor time of the server per mail for counting them from the log. Before the answers are timed, all events are counted anew (`metrics verify`), and nothing may differ. ";

/** Counts of mail on SQLite: their price and their answers. */
export const metrics: Bench = {
  name: "metrics",
  onlyByName: true,
  meaning: `${MONTH}share: part of the processor time of a mail, from the request to its delivery, that its counting takes; captured, and over SMTP. The reader counts the same mail again, alone, for that. --rows N for fewer mails.`,
  run: async ({ rows }) => {
    const sink = await startSink();
    const smtp = ["--smtp-url", `smtp://127.0.0.1:${sink.port}?pool=${CONNECTIONS}&messages=1000000`];
    try {
      const shares = [await measureShare("capture", []), await measureShare("smtp", smtp)];
      return [...shares, ...(await measureMonth("metrics", await openSqlite(), Math.min(rows, MOST)))];
    } finally {
      await sink.stop();
    }
  },
};

/** The answers on Postgres. */
export const metricsOnPostgres: Bench = {
  name: "metrics-postgres",
  onlyByName: true,
  meaning: "What 30 days take to answer on Postgres with fsync on.",
  run: async ({ rows }) => measureMonth("metrics-postgres", await openPostgres(), Math.min(rows, MOST)),
};

async function measureShare(name: string, flags: readonly string[]): Promise<Figure> {
  const store = await openSqlite();
  try {
    const server = await store.start(flags);
    const { pid, apiKey } = server;
    await call(server, "POST", "/__dev/clock/freeze", {});
    await deliverAll(server, WARM_UP, () => {});
    const before = cpuOf([pid]);
    await deliverAll(server, MAILS, () => {});
    await call(server, "GET", "/api/v1/metrics");
    const perMail = (cpuOf([pid]) - before) / MAILS;
    await server.stop();
    await store.fill(["delete from mail_metrics", "delete from event_readers where reader = 'metrics'"]);
    const behind = await startAndAnswer(store, apiKey);
    const atTheEnd = await startAndAnswer(store, apiKey);
    const counting = (behind - atTheEnd) / (MAILS + WARM_UP);
    return {
      name: `metrics.share.${name}`,
      value: counting,
      unit: "us/mail",
      against: "all of a mail",
      ratio: counting / perMail,
      goal: { op: "<=", than: 0.05 },
    };
  } finally {
    await store.dispose();
  }
}

/** Processor time of a server from its start until it has answered by metrics, us. */
async function startAndAnswer(store: Store, apiKey: string): Promise<number> {
  const server = await store.start();
  await call({ ...server, apiKey }, "GET", "/api/v1/metrics");
  const spent = cpuOf([server.pid]);
  await server.stop();
  return spent;
}

async function measureMonth(prefix: string, store: Store, mails: number): Promise<Figure[]> {
  try {
    const { workspaceId, apiKey, stop } = await store.start();
    await stop();
    await store.fill(insertMails(store.dialect, workspaceId, mails, Date.now()));
    const server: Contender = { ...(await store.start()), apiKey };
    const before = cpuOf([server.pid]);
    const { total } = (await call(server, "GET", "/api/v1/metrics")) as { total: { accepted: number } };
    const read = (cpuOf([server.pid]) - before) / mails;
    if (total.accepted !== mails) throw new Error(`Of ${mails} mails ${total.accepted} are counted.`);
    const { correct } = (await call(server, "GET", "/api/v1/metrics/verify")) as { correct: boolean };
    if (!correct) throw new Error("Counting anew gives other numbers.");
    const figures: Figure[] = [];
    for (const [name, query] of Object.entries(QUESTIONS)) {
      const rounds: number[] = [];
      for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
        const from = performance.now();
        await call(server, "GET", `/api/v1/metrics${query}`);
        if (round >= 0) rounds.push(performance.now() - from);
      }
      const value = median(rounds);
      figures.push({ name: `${prefix}.${name}`, value, unit: "ms", against: null, ratio: null, goal: { op: "<=", than: 10 }, rounds });
    }
    await server.stop();
    return [...figures, { name: `${prefix}.read`, value: read, unit: "us/mail", against: null, ratio: null }];
  } finally {
    await store.dispose();
  }
}
