import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PostgresServer, startPostgres } from "../../packages/server/test/postgres-server.ts";
import { startServer } from "../../test/support/server.ts";
import { call } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { type Load, load, sends } from "../load/load.ts";
import { outputOf } from "../runs.ts";

const ROUNDS = 3;
const CONNECTIONS = 100;
const JOBS = 30_000;
const JOBS_WITH_ROW = 6000;
const AT_A_TIME = 32;

const QUEUE = fileURLToPath(new URL("../peers/queue.ts", import.meta.url));

/** The product on Postgres, whose server runs on the same machine. */
export const postgres: Bench = {
  name: "postgres",
  meaning:
    `On Postgres with fsync on, database, servers and load on the same cores. accept: sends a second at ${CONNECTIONS} connections, deliveries (captured) beside them; accept.two: two server processes, half of the connections each. ` +
    `jobs: how many jobs a second that do nothing one process works off, ${AT_A_TIME} at a time; against graphile-worker's own loop (local queue of 500, completions in batches). ` +
    "jobs.effect: each job writes a row; ours in the transaction that ends the job, so once and only once, graphile-worker's in a statement of its own, ended later in a batch.",
  run: async () => {
    const one: number[] = [];
    const two: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      one.push(await accept(1));
      two.push(await accept(2));
    }
    const ours: number[] = [];
    const theirs: number[] = [];
    const oursRow: number[] = [];
    const theirsRow: number[] = [];
    const database = await startPostgres({ durable: true });
    try {
      for (let i = 0; i < ROUNDS; i++) {
        theirs.push(await work("graphile", database, JOBS, "none"));
        ours.push(await work("mailsvc", database, JOBS, "none"));
        theirsRow.push(await work("graphile", database, JOBS_WITH_ROW, "row"));
        oursRow.push(await work("mailsvc", database, JOBS_WITH_ROW, "row"));
      }
    } finally {
      await database.dispose();
    }
    return [
      figure("postgres.accept", one, "sends/s"),
      { ...figure("postgres.accept.two", two, "sends/s"), against: "one process", ratio: ratioOf(two, one) },
      {
        ...figure("postgres.jobs", ours, "jobs/s"),
        against: "graphile-worker's loop",
        ratio: ratioOf(ours, theirs),
        goal: { op: ">=", than: 0.8 },
      },
      figure("postgres.jobs.graphile", theirs, "jobs/s"),
      { ...figure("postgres.jobs.effect", oursRow, "jobs/s"), against: "graphile-worker's loop", ratio: ratioOf(oursRow, theirsRow) },
    ];
  },
};

/** Sends a second that `size` server processes on one database accept together. */
async function accept(size: number): Promise<number> {
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
    const loads = await Promise.all(
      ready.map(
        (one): Promise<Load> =>
          load({
            port: Number(new URL(one?.url ?? "").port),
            requests: sends(apiKey),
            connections: CONNECTIONS / size,
            warmupMs: 1000,
            durationMs: 3000,
            timeoutMs: 10_000,
          }),
      ),
    );
    return loads.reduce((sum, { perSecond }) => sum + perSecond, 0);
  } finally {
    await Promise.all(servers.map((server) => server.kill("SIGKILL")));
    await database.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Jobs a second. */
async function work(which: "mailsvc" | "graphile", database: PostgresServer, jobs: number, effect: "none" | "row"): Promise<number> {
  return Number(await outputOf([process.execPath, QUEUE, which, database.url, `${jobs}`, `${AT_A_TIME}`, effect]));
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
