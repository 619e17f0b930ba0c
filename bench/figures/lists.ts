import { Client } from "undici";
import { insertManyRows, listPaths } from "../../packages/server/test/many-rows.ts";
import { type Contender, call } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { load, sends } from "../load/load.ts";
import { openPostgres, openSqlite, type Store } from "../stores.ts";

const SMALL = 10_000;
const ROUNDS = 7;
// Until then Node still compiles what runs often.
const WARM_UP = 4;
const SLUG = "bench";
const CONNECTIONS = 50;

/** The ms of each list, by its path: the median of its rounds. */
type ListTimes = ReadonlyMap<string, number>;

/** Sends under load: how many a second, and the p99 in ms. */
interface Sends {
  readonly perSecond: number;
  readonly p99: number;
}

/** Measurements with one number of rows. */
interface Measured {
  readonly lists: ListTimes;
  readonly alone: readonly Sends[];
  /** While a client reads one list after the other. */
  readonly besideLists: readonly Sends[];
}

const MEANING =
  "The mean time of the lists of emails, suppressions, jobs, deliveries and of the data of a person, with each filter and some combinations of them, in a database with a million rows in each " +
  "large table, and how many times what they take with 10,000. slowest: the slowest of them. sends: sends accepted a second at 50 connections, against the same with 10,000 rows. " +
  "sends.p99: their p99 while one client reads one list after the other, against the p99 without it.";

/** Lists on SQLite. */
export const lists: Bench = {
  name: "lists",
  meaning: MEANING,
  onlyByName: true,
  run: ({ rows }) => measureBoth("lists", openSqlite, rows),
};

/** Lists on Postgres. */
export const listsOnPostgres: Bench = {
  name: "lists-postgres",
  meaning: "The same on Postgres with fsync on.",
  onlyByName: true,
  run: ({ rows }) => measureBoth("lists-postgres", openPostgres, rows),
};

/** The figures that follow from the times with few and with many rows. */
export function toListFigures(prefix: string, few: ListTimes, many: ListTimes): Figure[] {
  const nouns = [...new Set([...many.keys()].map(nounOf))];
  const mean = (times: ListTimes, noun: string): number => {
    const own = [...times].filter(([path]) => nounOf(path) === noun).map(([, ms]) => ms);
    return own.reduce((sum, ms) => sum + ms, 0) / own.length;
  };
  return [
    ...nouns.map((noun): Figure => {
      const value = mean(many, noun);
      const ratio = value / mean(few, noun);
      return { name: `${prefix}.${noun}`, value, unit: "ms", against: `${SMALL} rows`, ratio, goal: { op: "<=", than: 1.5 } };
    }),
    { name: `${prefix}.slowest`, value: Math.max(...many.values()), unit: "ms", against: null, ratio: null, goal: { op: "<", than: 20 } },
  ];
}

/** `emails` of `/api/v1/emails?status=sent`, `deliveries` of `/api/v1/marketplace/listings/bench/deliveries`. */
function nounOf(path: string): string {
  return /(emails|suppressions|jobs|deliveries|people)/.exec(path)?.[0] ?? path;
}

async function measureBoth(prefix: string, open: () => Promise<Store>, rows: number): Promise<Figure[]> {
  const few = await measure(open, Math.min(SMALL, rows));
  const many = await measure(open, rows);
  const p99s = (all: readonly Sends[]): number[] => all.map(({ p99 }) => p99);
  const rates = (all: readonly Sends[]): number[] => all.map(({ perSecond }) => perSecond);
  return [
    ...toListFigures(prefix, few.lists, many.lists),
    {
      name: `${prefix}.sends`,
      value: median(rates(many.alone)),
      unit: "sends/s",
      against: `${SMALL} rows`,
      ratio: median(rates(many.alone)) / median(rates(few.alone)),
      goal: { op: ">=", than: 0.67 },
      rounds: rates(many.alone),
    },
    {
      name: `${prefix}.sends.p99`,
      value: median(p99s(many.besideLists)),
      unit: "ms",
      against: "without lists",
      ratio: median(p99s(many.besideLists)) / median(p99s(many.alone)),
      goal: { op: "<=", than: 1.5 },
      rounds: p99s(many.besideLists),
    },
  ];
}

async function measure(open: () => Promise<Store>, rows: number): Promise<Measured> {
  const store = await open();
  try {
    let server = await store.start();
    const listing = (await call(server, "POST", "/api/v1/marketplace/listings", {
      slug: SLUG,
      name: "Bench",
      description: "It is listed.",
      webhookUrl: "https://bench.acme.dev/",
      permissions: ["brand:read"],
    })) as { id: string };
    const owners = { workspaceId: server.workspaceId, otherWorkspaceId: "ws_other", listingId: listing.id, activationId: "act_many" };
    const { apiKey } = server;
    await server.stop();
    await store.fill(insertManyRows(store.dialect, owners, rows));
    server = { ...(await store.start()), apiKey };
    try {
      const paths = listPaths(owners, SLUG);
      return { lists: await timeLists(server, paths), ...(await loadWithSends(server, paths)) };
    } finally {
      await server.stop();
    }
  } finally {
    await store.dispose();
  }
}

async function timeLists(server: Contender, paths: readonly string[]): Promise<ListTimes> {
  const client = new Client(server.url);
  const times = new Map<string, number[]>(paths.map((path) => [path, []]));
  for (let round = -WARM_UP; round < ROUNDS; round++)
    for (const [path, each] of times) {
      const ms = await read(client, server.apiKey, path);
      if (round >= 0) each.push(ms);
    }
  await client.close();
  return new Map([...times].map(([path, each]) => [path, median(each)]));
}

/** Reads a list; returns its ms. */
async function read(client: Client, apiKey: string, path: string): Promise<number> {
  const from = performance.now();
  const { statusCode, body } = await client.request({ method: "GET", path, headers: { authorization: `Bearer ${apiKey}` } });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text}`);
  return performance.now() - from;
}

/** Sends in turns alone and during lists by another client. */
async function loadWithSends(server: Contender, paths: readonly string[]): Promise<Omit<Measured, "lists">> {
  const send = (): Promise<Sends> =>
    load({
      port: server.port,
      requests: sends(server.apiKey),
      connections: CONNECTIONS,
      warmupMs: 500,
      durationMs: 2000,
      timeoutMs: 10_000,
    });
  const alone: Sends[] = [];
  const besideLists: Sends[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(await send());
    const client = new Client(server.url);
    let over = false;
    const listing = (async () => {
      while (!over) for (const path of paths) if (!over) await read(client, server.apiKey, path);
    })();
    besideLists.push(await send());
    over = true;
    await listing;
    await client.close();
  }
  return { alone, besideLists };
}
