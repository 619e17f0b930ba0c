import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { PostgresServer } from "../../packages/server/test/postgres-server.ts";
import { startServer } from "../../test/support/server.ts";
import { call } from "../contenders.ts";
import { cpuOf } from "../cpu.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { BODY } from "../load/load.ts";
import { CONNECTIONS, onPostgres, startSink } from "./drain.ts";

const PROCESSES = [1, 2, 3];
const ROUNDS = 3;
// Before that, a mail costs several times as much: its code is being compiled.
const WARM_UP_PER_PROCESS = 4000;
const MAILS = 6000;
/** Requests under way at each server. */
const AT_A_TIME = 50;
const PATIENCE_MS = 300_000;

/** Cost of a mail, from the request to the reply of the mail server: processor time in µs. */
interface Cost {
  readonly server: number;
  readonly postgres: number;
  readonly transactions: number;
  readonly wal: number;
}

const PARTS = [
  ["server", "µs/mail"],
  ["postgres", "µs/mail"],
  ["transactions", "1/mail"],
  ["wal", "bytes/mail"],
] as const;

/** Cost of a mail when several processes share a database. A cost that grows with their number becomes the limit. */
export const scaling: Bench = {
  name: "scaling",
  meaning:
    `What each of ${MAILS.toLocaleString("en-US")} mails of about 1 KB costs that are accepted one by one, ${AT_A_TIME} at a time at each process, and leave over SMTP, with 1, 2 and 3 processes on one Postgres with fsync on. ` +
    "server, postgres: their processor time; transactions: commits of the database, those of its idle servers included; wal: bytes it wrote to its log. The ratio is against one process.",
  run: async () => {
    const sink = await startSink();
    const rounds = new Map<number, Cost[]>(PROCESSES.map((size) => [size, []]));
    try {
      for (let i = 0; i < ROUNDS; i++)
        for (const size of PROCESSES) rounds.get(size)?.push(await onPostgres((database) => measure(size, database, sink.port)));
    } finally {
      await sink.stop();
    }
    return PROCESSES.flatMap((size) => PARTS.map(([part, unit]) => toFigure(size, part, unit, rounds)));
  },
};

function toFigure(size: number, part: keyof Cost, unit: string, rounds: ReadonlyMap<number, readonly Cost[]>): Figure {
  const values = (of: number): number[] => (rounds.get(of) ?? []).map((cost) => cost[part]);
  const [own, one] = [values(size), values(1)];
  return {
    name: `scaling.${size}.${part}`,
    value: median(own),
    unit,
    against: size === 1 ? null : "one process",
    ratio: size === 1 ? null : median(own.map((value, i) => value / (one[i] ?? Number.NaN))),
    rounds: own,
  };
}

async function measure(size: number, database: PostgresServer, sinkPort: string): Promise<Cost> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  const flags = [
    "--dev",
    "--rate-limit",
    "send=1000000,write=1000000,read=1000000,agent=1000000/s,message=1000000/s,log=1000000/s",
    "--smtp-url",
    `smtp://127.0.0.1:${sinkPort}?pool=${CONNECTIONS}&messages=1000000`,
    "--database-url",
    database.url,
  ];
  const servers = Array.from({ length: size }, () => startServer({ data: join(folder, "unused"), flags }));
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const ready = await Promise.all(servers.map((server) => server.ready()));
    const apiKey = ready[0]?.apiKey ?? "";
    const targets = ready.map((one) => ({ url: one?.url ?? "", apiKey }));
    await call(targets[0] as { url: string; apiKey: string }, "POST", "/api/v1/senders", { domain: "bench.acme.dev" });
    const pids = servers.map(({ child }) => child.pid ?? 0);
    await deliver(targets, client, WARM_UP_PER_PROCESS * size);
    const read = async () => ({ server: cpuOf(pids), postgres: cpuOf([database.pid]), ...(await readDatabase(client)) });
    const before = await read();
    await deliver(targets, client, MAILS);
    const after = await read();
    return {
      server: (after.server - before.server) / MAILS,
      postgres: (after.postgres - before.postgres) / MAILS,
      transactions: (after.transactions - before.transactions) / MAILS,
      wal: (after.wal - before.wal) / MAILS,
    };
  } finally {
    await client.end();
    await Promise.all(servers.map((server) => server.kill("SIGKILL")));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readDatabase(client: pg.Client): Promise<{ transactions: number; wal: number }> {
  const { rows } = await client.query<{ transactions: number; wal: number }>(
    `select xact_commit::float8 as transactions, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal
     from pg_stat_database where datname = current_database()`,
  );
  return rows[0] ?? { transactions: Number.NaN, wal: Number.NaN };
}

/** Sends mails through all servers at once, and waits until the mail server has them. */
async function deliver(targets: readonly { url: string; apiKey: string }[], client: pg.Client, count: number): Promise<void> {
  const sent = async (): Promise<number> =>
    (await client.query<{ n: number }>("select count(*)::int as n from emails where status in ('sent', 'delivered')")).rows[0]?.n ?? 0;
  const before = await sent();
  let left = count;
  const work = async (target: { url: string; apiKey: string }): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await call(target, "POST", "/api/v1/send", { ...BODY, to: `reader${left}@mail.acme.dev` });
    }
  };
  await Promise.all(targets.flatMap((target) => Array.from({ length: AT_A_TIME }, () => work(target))));
  const giveUpAt = Date.now() + PATIENCE_MS;
  while ((await sent()) - before < count) {
    if (Date.now() > giveUpAt) throw new Error(`Of ${count} mails only ${(await sent()) - before} left.`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
