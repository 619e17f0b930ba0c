import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "undici";
import { startPostgres } from "../../packages/server/test/postgres-server.ts";
import { type Contender, mailsvc } from "../contenders.ts";
import { onCore } from "../cores.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { PERSONS_PER_REQUEST, personAt } from "../load/persons.ts";
import { outputOf } from "../runs.ts";

const SMALL = 10_000;
const LARGE = 1_000_000;
const REQUESTS = 60;
const ROUNDS = 3;
const PAGE = 20;
const INSERT = fileURLToPath(new URL("../peers/insert.ts", import.meta.url));

/** The queries on `size` contacts, and how much longer each may take with a hundred times as many. */
const QUESTIONS: readonly { name: string; than: number; query(k: number, size: number): Record<string, string | number> }[] = [
  { name: "list", than: 2, query: () => ({}) },
  { name: "deep", than: 2, query: (k, size) => ({ page: size / PAGE - k }) },
  { name: "tag", than: 2, query: () => ({ tag: "vip" }) },
  { name: "prefix", than: 2, query: (k, size) => ({ search: personAt((k * 7919) % size).email.slice(0, 16) }) },
  { name: "substring", than: 6, query: (k, size) => ({ search: personAt((k * 7919) % size).email.slice(5, 18) }) },
  { name: "substring.common", than: 6, query: (k) => ({ search: personAt(k).firstName.slice(1) }) },
  { name: "substring.none", than: 6, query: () => ({ search: "qzxv" }) },
  { name: "substring.short", than: 6, query: (k) => ({ search: ["an", "x7", "qz", "é"][k % 4] as string }) },
];

type Ask = (path: string) => Promise<number>;

const MEANING =
  "The time of one request for a page of contacts among a million, and how many times what it takes among 10,000: newest first, the last pages, by a tag, by the beginning of an address, by a part " +
  "of an address or name that is rare, that every fiftieth has, that nobody has, and of one or two characters. import: contacts a second through the API in requests of a thousand, with their tags, events, counts and " +
  "search index, against bare prepared statements that write the same rows into the same tables; memory: what the server holds after a million, against what it held after 160,000.";

/** Contacts on SQLite. */
export const contacts: Bench = {
  name: "contacts",
  meaning: MEANING,
  run: async () => {
    const server = await mailsvc();
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
    let n = 0;
    try {
      return await measure("contacts", server, () => raw(join(folder, `raw-${n++}`)));
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Contacts on Postgres. */
export const contactsOnPostgres: Bench = {
  name: "contacts-postgres",
  meaning: "The same on Postgres with fsync on.",
  run: async () => {
    const [database, other] = [await startPostgres({ durable: true }), await startPostgres({ durable: true })];
    const server = await mailsvc({ flags: ["--database-url", database.url] });
    try {
      return await measure("contacts-postgres", server, () => raw(other.url));
    } finally {
      await server.stop();
      await database.dispose();
      await other.dispose();
    }
  },
};

/** Sends one request after the other over one connection; each gives back its ms. */
function asking({ url, apiKey }: Contender): { ask: Ask; close(): Promise<void> } {
  const client = new Client(url);
  return {
    ask: async (path) => {
      const from = performance.now();
      const { statusCode, body } = await client.request({ method: "GET", path, headers: { authorization: `Bearer ${apiKey}` } });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text}`);
      return performance.now() - from;
    },
    close: () => client.close(),
  };
}

async function times(server: Contender, size: number): Promise<Map<string, number[]>> {
  const { ask, close } = asking(server);
  const found = new Map<string, number[]>();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, query } of QUESTIONS) {
      const each: number[] = [];
      for (let k = 0; k < REQUESTS; k++) {
        const search = new URLSearchParams(Object.entries(query(k, size)).map(([key, value]) => [key, String(value)]));
        each.push(await ask(`/api/v1/contacts?${search}`));
      }
      // The first round warms up.
      if (round > 0) found.set(name, [...(found.get(name) ?? []), median(each)]);
    }
  }
  await close();
  return found;
}

/** Imports people from number `from` on, over two connections; gives back how many a second. */
async function fill({ url, apiKey }: Contender, from: number, to: number): Promise<number> {
  let next = from;
  const start = performance.now();
  const one = async (): Promise<void> => {
    const client = new Client(url, { bodyTimeout: 0, headersTimeout: 0 });
    for (let at = next; at < to; at = next) {
      next = at + PERSONS_PER_REQUEST;
      const rows = Array.from({ length: Math.min(PERSONS_PER_REQUEST, to - at) }, (_, i) => personAt(at + i));
      const { statusCode, body } = await client.request({
        method: "POST",
        path: "/api/v1/contacts/import",
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
        body: JSON.stringify({ rows }),
      });
      const outcome = (await body.json()) as { created?: number };
      if (statusCode !== 200 || outcome.created !== rows.length)
        throw new Error(`Import: ${statusCode} ${JSON.stringify(outcome).slice(0, 300)}`);
    }
    await client.close();
  };
  await Promise.all([one(), one()]);
  return ((to - from) / (performance.now() - start)) * 1000;
}

function residentMb(pid: number): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", `${pid}`], { encoding: "utf8" })) / 1024;
}

/** Measures the people a second that bare prepared statements write, into the same tables with the same indexes. */
async function raw(target: string): Promise<number> {
  return Number(await outputOf([...onCore(0), process.execPath, INSERT, target, `${PERSONS_PER_REQUEST}`, "50000"]));
}

async function measure(prefix: string, server: Contender, rawTarget: () => Promise<number>): Promise<Figure[]> {
  const importRates: number[] = [await fill(server, 0, SMALL)];
  const atSmall = await times(server, SMALL);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await rawTarget());
    ours.push(await fill(server, SMALL + round * 50_000, SMALL + (round + 1) * 50_000));
  }
  // By now the caches of the database are full, which have a fixed size.
  const before = residentMb(server.pid);
  importRates.push(await fill(server, SMALL + ROUNDS * 50_000, LARGE));
  const after = residentMb(server.pid);
  const atLarge = await times(server, LARGE);
  return [
    ...QUESTIONS.map(({ name, than }): Figure => {
      const [small = [], large = []] = [atSmall.get(name), atLarge.get(name)];
      const ratio = median(large) / median(small);
      return {
        name: `${prefix}.${name}`,
        value: median(large),
        unit: "ms",
        against: "10,000 contacts",
        ratio,
        goal: { op: "<=", than },
        rounds: large,
      };
    }),
    {
      name: `${prefix}.import`,
      value: median(ours),
      unit: "contacts/s",
      against: "bare inserts",
      ratio: median(ours.map((rate, i) => rate / (theirs[i] ?? Number.NaN))),
      goal: { op: ">=", than: 0.4 },
      rounds: ours,
    },
    { name: `${prefix}.import.million`, value: importRates.at(-1) ?? 0, unit: "contacts/s", against: null, ratio: null },
    {
      name: `${prefix}.import.memory`,
      value: after,
      unit: "MB",
      against: "160,000 contacts",
      ratio: after / before,
      goal: { op: "<=", than: 1.25 },
    },
  ];
}
