import { type Contender, call } from "../contenders.ts";
import { cpuOf } from "../cpu.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { DAYS, DOMAINS, insertMails } from "../load/mails.ts";
import { openPostgres, openSqlite, type Store } from "../stores.ts";
import { CONNECTIONS, deliverAll, startSink } from "./drain.ts";

const MAILS = 8000;
const WARM_UP = 1000;
// A server that has just started counts the first thousands of mails at three times the price.
const COUNTED = 100_000;
const COUNTED_WITHIN_S = 60;
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
  meaning: `${MONTH}share: part of the processor time of a mail, from the request to its delivery, that its counting takes; captured, and over SMTP. For that the reader counts ${COUNTED.toLocaleString("en")} mails alone. --rows N for fewer mails.`,
  run: async ({ rows }) => {
    const sink = await startSink();
    const smtp = ["--smtp-url", `smtp://127.0.0.1:${sink.port}?pool=${CONNECTIONS}&messages=1000000`];
    try {
      const counting = await measureCounting();
      const shares = [await measureShare("capture", [], counting), await measureShare("smtp", smtp, counting)];
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

/** Processor time of a mail, from the request to its delivery, of which `counting` is a part, us. */
async function measureShare(name: string, flags: readonly string[], counting: number): Promise<Figure> {
  const store = await openSqlite();
  try {
    const server = await store.start(flags);
    await call(server, "POST", "/__dev/clock/freeze", {});
    await deliverAll(server, WARM_UP, () => {});
    const before = cpuOf([server.pid]);
    await deliverAll(server, MAILS, () => {});
    await call(server, "GET", "/api/v1/metrics");
    const perMail = (cpuOf([server.pid]) - before) / MAILS;
    await server.stop();
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

/** Processor time for counting a mail whose events are in the log, us. */
async function measureCounting(): Promise<number> {
  const store = await openSqlite();
  try {
    const { workspaceId, apiKey, stop } = await store.start();
    await stop();
    await store.fill(insertMails(store.dialect, workspaceId, COUNTED, Date.now(), COUNTED_WITHIN_S));
    const behind = await startAndAnswer(store, apiKey);
    const atTheEnd = await startAndAnswer(store, apiKey);
    return (behind - atTheEnd) / COUNTED;
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
    const accepted = await countAll(server);
    const read = (cpuOf([server.pid]) - before) / mails;
    if (accepted !== mails) throw new Error(`Of ${mails} mails ${accepted} are counted.`);
    await verify(server);
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

/** Waits until all events are counted, and returns the number of mails. The server does not let a request wait for long. */
async function countAll(server: Contender): Promise<number> {
  for (;;)
    try {
      const { total } = (await call(server, "GET", "/api/v1/metrics")) as { total: { accepted: number } };
      return total.accepted;
    } catch (error) {
      if (!String(error).includes(" 503 ")) throw error;
    }
}

/** Counts all events anew, day by day: a month of them takes longer than a client waits for an answer. */
async function verify(server: Contender): Promise<void> {
  const today = Date.now();
  for (let day = DAYS; day >= 0; day -= 1) {
    const date = new Date(today - day * 86_400_000).toISOString().slice(0, 10);
    const { correct } = (await call(server, "GET", `/api/v1/metrics/verify?from=${date}&to=${date}`)) as { correct: boolean };
    if (!correct) throw new Error(`Counting ${date} anew gives other numbers.`);
  }
}
