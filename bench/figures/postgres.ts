import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PostgresServer, startPostgres } from "../../packages/server/test/postgres-server.ts";
import { startServer } from "../../test/support/server.ts";
import { call } from "../contenders.ts";
import { cpuOf } from "../cpu.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { type Load, load, sends } from "../load/load.ts";
import { outputOf } from "../runs.ts";
import { APPS, installApps } from "../stacks/process.ts";

const ROUNDS = 3;
const CONNECTIONS = 100;
const BARE_CONNECTIONS = 16;
const BARE_SECONDS = 3;
const WARMUP_MS = 1000;
const LOAD_MS = 3000;
const JOBS = 30_000;
const JOBS_WITH_ROW = 6000;
const ROUNDS_WITH_ROW = 10;
const AT_A_TIME = 32;

const BARE = fileURLToPath(new URL("../peers/bare-sends.ts", import.meta.url));
const QUEUE = fileURLToPath(new URL("../peers/queue.ts", import.meta.url));
const GRAPHILE = join(APPS, "graphile-jobs.mjs");

/** The product on Postgres, whose server runs on the same machine. */
export const postgres: Bench = {
  name: "postgres",
  meaning:
    `On Postgres with fsync on, database, servers and load on the same cores. accept: sends a second at ${CONNECTIONS} connections, deliveries (captured) at the same time; against the driver alone, which stores the same rows in one transaction each over ${BARE_CONNECTIONS} connections; ` +
    "accept.two: two server processes, half of the connections each; accept.cpu: processor time of server and database for each accepted send, deliveries included. " +
    `jobs: how many jobs a second that do nothing one process works off, ${AT_A_TIME} at a time; against graphile-worker's own loop (local queue of 500, completions in batches). ` +
    "jobs.effect: each job writes a row; ours in the transaction that ends the job, so once and only once, graphile-worker's in its own statement, ended later in a batch.",
  run: async () => {
    installApps();
    const bare: number[] = [];
    const one: Accepted[] = [];
    const two: Accepted[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      bare.push(await acceptBare());
      one.push(await accept(1));
      two.push(await accept(2));
    }
    const rate = ({ perSecond }: Accepted): number => perSecond;
    const ours: number[] = [];
    const theirs: number[] = [];
    const oursRow: number[] = [];
    const theirsRow: number[] = [];
    const database = await startPostgres({ durable: true });
    try {
      for (let i = 0; i < ROUNDS; i++) {
        theirs.push(await work(GRAPHILE, database, JOBS, "none"));
        ours.push(await work(QUEUE, database, JOBS, "none"));
      }
      for (let i = 0; i < ROUNDS_WITH_ROW; i++) {
        theirsRow.push(await work(GRAPHILE, database, JOBS_WITH_ROW, "row"));
        oursRow.push(await work(QUEUE, database, JOBS_WITH_ROW, "row"));
      }
    } finally {
      await database.dispose();
    }
    return [
      {
        ...figure("postgres.accept", one.map(rate), "sends/s"),
        against: `the driver, ${BARE_CONNECTIONS} connections`,
        ratio: ratioOf(one.map(rate), bare),
        goal: { op: ">=", than: 1.3 },
      },
      figure("postgres.accept.bare", bare, "sends/s"),
      {
        ...figure("postgres.accept.two", two.map(rate), "sends/s"),
        against: "one process",
        ratio: ratioOf(two.map(rate), one.map(rate)),
        goal: { op: ">=", than: 0.8 },
      },
      figure(
        "postgres.accept.cpu",
        one.map(({ cpu }) => cpu),
        "µs/send",
      ),
      {
        ...figure("postgres.jobs", ours, "jobs/s"),
        against: "graphile-worker's loop",
        ratio: ratioOf(ours, theirs),
        goal: { op: ">=", than: 0.8 },
      },
      figure("postgres.jobs.graphile", theirs, "jobs/s"),
      {
        ...figure("postgres.jobs.effect", oursRow, "jobs/s"),
        against: "graphile-worker's loop",
        ratio: ratioOf(oursRow, theirsRow),
        goal: { op: ">=", than: 1.2 },
      },
    ];
  },
};

interface Accepted {
  perSecond: number;
  /** Processor time of servers and database for each send, µs. */
  cpu: number;
}

/** Measures the mails that `size` server processes on one database accept together. */
async function accept(size: number): Promise<Accepted> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  const database = await startPostgres({ durable: true });
  const flags = [
    "--dev",
    "--rate-limit",
    "send=1000000,write=1000000,read=1000000,agent=1000000/s,message=1000000/s,log=1000000/s",
    "--database-url",
    database.url,
  ];
  const servers = Array.from({ length: size }, () => startServer({ data: join(folder, "unused"), flags }));
  try {
    const ready = await Promise.all(servers.map((server) => server.ready()));
    const apiKey = ready[0]?.apiKey ?? "";
    await call({ url: ready[0]?.url ?? "", apiKey }, "POST", "/api/v1/senders", { domain: "bench.acme.dev" });
    const pids = [database.pid, ...servers.map(({ child }) => child.pid ?? 0)];
    const loadAll = (warmupMs: number, durationMs: number): Promise<Load[]> =>
      Promise.all(
        ready.map((one) => {
          const port = Number(new URL(one?.url ?? "").port);
          return load({ port, requests: sends(apiKey), connections: CONNECTIONS / size, warmupMs, durationMs, timeoutMs: 10_000 });
        }),
      );
    await loadAll(0, WARMUP_MS);
    const before = cpuOf(pids);
    const loads = await loadAll(0, LOAD_MS);
    const used = cpuOf(pids) - before;
    const answers = loads.reduce((sum, { answers }) => sum + answers, 0);
    return { perSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0), cpu: used / answers };
  } finally {
    await Promise.all(servers.map((server) => server.kill("SIGKILL")));
    await database.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sends a second that the driver alone stores. */
async function acceptBare(): Promise<number> {
  const database = await startPostgres({ durable: true });
  try {
    return Number(await outputOf([process.execPath, BARE, database.url, `${BARE_CONNECTIONS}`, `${BARE_SECONDS}`]));
  } finally {
    await database.dispose();
  }
}

/** Jobs a second. */
async function work(program: string, database: PostgresServer, jobs: number, effect: "none" | "row"): Promise<number> {
  return Number(await outputOf([process.execPath, program, database.url, `${jobs}`, `${AT_A_TIME}`, effect]));
}

function figure(name: string, rounds: number[], unit: string): Figure {
  return {
    name,
    value: median(rounds),
    unit,
    against: null,
    ratio: null,
    rounds,
  };
}

function ratioOf(one: readonly number[], other: readonly number[]): number {
  return median(one.map((v, i) => v / (other[i] ?? Number.NaN)));
}
