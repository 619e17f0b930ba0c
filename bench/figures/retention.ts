import { insertManyRows } from "../../packages/server/test/many-rows.ts";
import { call } from "../contenders.ts";
import { cpuOf } from "../cpu.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { type Load, load, sends } from "../load/load.ts";
import { numberEvents, openPostgres, openSqlite, type Store, speak } from "../stores.ts";

const ROUNDS = 3;
const CONNECTIONS = 10;
const LOAD_MS = 5000;
// Statements of `insertManyRows` about mail alone: contents, emails and their labels.
const OF_MAIL = 5;
const EVENTS = ["email.queued", "email.sent", "email.delivered"];
// Some mail stays: what is deferred or in doubt. With a filter, a list counts to a thousand.
const STAYS = 500;

interface Round {
  readonly perSecond: number;
  readonly cpu: number;
  readonly alone: Load;
  readonly during: Load;
}

const MEANING =
  "The sweep of --keep emails=30,events=30 over old mail with contents, tags and three events for each. deleted: mails a second, while nothing else happens. " +
  `cpu: processor time of the server for each. p99, longest: of sends over ${CONNECTIONS} connections during the sweep, in ms, against the same without it.`;

/** Deleting old mail on SQLite. */
export const retention: Bench = {
  name: "retention",
  meaning: MEANING,
  onlyByName: true,
  run: ({ rows }) => measureAll("retention", openSqlite, rows),
};

/** Deleting old mail on Postgres. */
export const retentionOnPostgres: Bench = {
  name: "retention-postgres",
  meaning: "The same on Postgres with fsync on.",
  onlyByName: true,
  run: ({ rows }) => measureAll("retention-postgres", openPostgres, rows),
};

async function measureAll(name: string, open: () => Promise<Store>, rows: number): Promise<Figure[]> {
  const rounds: Round[] = [];
  for (let i = 0; i < ROUNDS; i += 1) {
    const quiet = await measure(open, rows, sweepAlone);
    const busy = await measure(open, rows, sweepUnderLoad);
    rounds.push({ ...quiet, ...busy });
  }
  const plain = (figure: string, unit: string, of: (one: Round) => number): Figure => ({
    name: `${name}.${figure}`,
    value: median(rounds.map(of)),
    unit,
    against: null,
    ratio: null,
    rounds: rounds.map(of),
  });
  const compare = (figure: string, of: (one: Load) => number): Figure => ({
    ...plain(figure, "ms", ({ during }) => of(during)),
    against: "without a sweep",
    ratio: median(rounds.map(({ during, alone }) => of(during) / of(alone))),
  });
  return [
    plain("deleted", "mails/s", ({ perSecond }) => perSecond),
    plain("cpu", "µs/mail", ({ cpu }) => cpu),
    compare("p99", ({ p99 }) => p99),
    compare("longest", ({ max }) => max),
  ];
}

type Server = Awaited<ReturnType<Store["start"]>>;

/** Fills a database with old mail, and starts a server whose sweep is due. */
async function measure<T>(open: () => Promise<Store>, rows: number, work: (server: Server, rows: number) => Promise<T>): Promise<T> {
  const store = await open();
  const flags = ["--keep", "emails=30,events=30"];
  try {
    const first = await store.start(flags);
    await first.stop();
    await store.fill([...fillWithMail(store, first.workspaceId, rows), "update jobs set run_at = 0 where kind = 'retention.sweep'"]);
    const server = await store.start(flags);
    try {
      return await work(server, rows);
    } finally {
      await server.stop();
    }
  } finally {
    await store.dispose();
  }
}

function fillWithMail({ dialect }: Store, workspaceId: string, n: number): string[] {
  const { rows, toId, big } = speak(dialect);
  const owners = { workspaceId, otherWorkspaceId: workspaceId, listingId: "lst_none", activationId: "act_none" };
  const events = EVENTS.map(
    (type) =>
      `insert into events (workspace_id, type, email_id, at) select '${workspaceId}', '${type}', ${toId("em")}, 1700000000000 + ${big("i")} * 1000 from ${rows(n)}`,
  );
  return [...insertManyRows(dialect, owners, n).slice(0, OF_MAIL), ...events, ...numberEvents(dialect, workspaceId, n * EVENTS.length)];
}

async function sweepAlone(server: Server, rows: number): Promise<Pick<Round, "perSecond" | "cpu">> {
  const before = cpuOf([server.pid]);
  const from = performance.now();
  await untilSwept(server);
  return { perSecond: (rows * 1000) / (performance.now() - from), cpu: (cpuOf([server.pid]) - before) / rows };
}

/** The load of a sweep under way, and the same after it. */
async function sweepUnderLoad(server: Server): Promise<Pick<Round, "alone" | "during">> {
  const run = (): Promise<Load> =>
    load({
      port: server.port,
      requests: sends(server.apiKey),
      connections: CONNECTIONS,
      warmupMs: 1000,
      durationMs: LOAD_MS,
      timeoutMs: 10_000,
    });
  const during = await run();
  if ((await countMail(server)) <= STAYS) throw new Error("The sweep ended before the load did: fill in more rows.");
  await untilSwept(server);
  return { during, alone: await run() };
}

async function untilSwept(server: Server): Promise<void> {
  while ((await countMail(server)) > STAYS) await new Promise((next) => setTimeout(next, 200));
}

/** Counts old mail, up to a thousand. */
async function countMail(server: Server): Promise<number> {
  const { pagination } = (await call(server, "GET", "/api/v1/emails?limit=1&until=2024-06-01T00:00:00.000Z")) as {
    pagination: { total: number };
  };
  return pagination.total;
}
