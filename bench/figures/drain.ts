import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type PostgresServer, startPostgres } from "../../packages/server/test/postgres-server.ts";
import { type Contender, call, mailsvc } from "../contenders.ts";
import { onCore } from "../cores.ts";
import { cpuOf } from "../cpu.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { BODY } from "../load/load.ts";
import { outputOf } from "../runs.ts";

const MAILS = 8000;
const WARM_UP = 1000;
const BATCH = 50;
const ROUNDS = 3;
/** Connections to the mail server. */
export const CONNECTIONS = 20;

/** Measurements of a round: mails a second, and processor time per mail of server and database together, µs. */
interface Drained {
  readonly perSecond: number;
  readonly cpu: number;
}

/** Speed at which accepted mail leaves. */
export const drain: Bench = {
  name: "drain",
  meaning:
    `Deliveries a second of ${MAILS.toLocaleString("en-US")} mails of about 1 KB, text and html, that fall due at one instant: from the queue through MIME to the inbox (captured), and over SMTP to a sink that keeps nothing, with every state written to disk; on SQLite and on a Postgres with fsync on. ` +
    `nodemailer: its own pool with as many connections (${CONNECTIONS}) to the same sink, which writes nothing down. cpu: processor time per mail, of the server and its database together.`,
  run: async () => {
    const kinds = ["capture", "smtp", "pg.capture", "pg.smtp"] as const;
    const rounds: Record<(typeof kinds)[number], Drained[]> = { capture: [], smtp: [], "pg.capture": [], "pg.smtp": [] };
    const pool: number[] = [];
    const sink = await startSink();
    const smtp = ["--smtp-url", `smtp://127.0.0.1:${sink.port}?pool=${CONNECTIONS}&messages=1000000`];
    try {
      for (let i = 0; i < ROUNDS; i++) {
        pool.push(await runPool(sink.port));
        rounds.capture.push(await deliver([], null));
        rounds.smtp.push(await deliver(smtp, null));
        rounds["pg.capture"].push(await onPostgres((database) => deliver([], database)));
        rounds["pg.smtp"].push(await onPostgres((database) => deliver(smtp, database)));
      }
    } finally {
      await sink.stop();
    }
    const goals = { capture: 6, smtp: 2, "pg.capture": 4, "pg.smtp": 1.5 } as const;
    const cpuGoals = { capture: 150, smtp: null, "pg.capture": 250, "pg.smtp": null } as const;
    const figures = kinds.flatMap((kind): Figure[] => {
      const rates = rounds[kind].map(({ perSecond }) => perSecond);
      const cpu = rounds[kind].map((round) => round.cpu);
      const most = cpuGoals[kind];
      return [
        {
          name: `drain.${kind}`,
          value: median(rates),
          unit: "mails/s",
          against: "nodemailer pool",
          ratio: median(rates.map((value, i) => value / (pool[i] ?? Number.NaN))),
          goal: { op: ">=", than: goals[kind] },
          rounds: rates,
        },
        {
          name: `drain.${kind}.cpu`,
          value: median(cpu),
          unit: "µs/mail",
          against: null,
          ratio: null,
          ...(most !== null && { goal: { op: "<=", than: most } }),
          rounds: cpu,
        },
      ];
    });
    return [...figures, { name: "drain.nodemailer", value: median(pool), unit: "mails/s", against: null, ratio: null, rounds: pool }];
  },
};

function peerFile(name: string): string {
  return fileURLToPath(new URL(`../peers/${name}.ts`, import.meta.url));
}

/** Mails a second that nodemailer's own pool hands over. */
export async function runPool(port: string, mails = MAILS): Promise<number> {
  const args = [peerFile("nodemailer"), port, `${mails}`, `${CONNECTIONS}`, BODY.from, BODY.html, BODY.text];
  return Number(await outputOf([...onCore(0), process.execPath, ...args]));
}

/** Runs with a fresh, durable Postgres. */
export async function onPostgres<T>(run: (database: PostgresServer) => Promise<T>): Promise<T> {
  const database = await startPostgres({ durable: true });
  try {
    return await run(database);
  } finally {
    await database.dispose();
  }
}

/** Delivers mails that all fall due at one instant. */
async function deliver(flags: readonly string[], database: PostgresServer | null): Promise<Drained> {
  const server = await mailsvc({ flags: [...flags, ...(database ? ["--database-url", database.url] : [])] });
  const pids = [server.pid, ...(database ? [database.pid] : [])];
  try {
    await call(server, "POST", "/__dev/clock/freeze", {});
    await deliverAll(server, WARM_UP, () => {});
    let before = 0;
    const ms = await deliverAll(server, MAILS, () => {
      before = cpuOf(pids);
    });
    return { perSecond: (MAILS * 1000) / ms, cpu: (cpuOf(pids) - before) / MAILS };
  } finally {
    await server.stop();
  }
}

/** Schedules mails for one instant, moves the clock there, and answers how long it took to deliver all of them, ms. */
export async function deliverAll(server: Contender, count: number, onStart: () => void): Promise<number> {
  const { now } = (await call(server, "GET", "/__dev/clock")) as { now: string };
  const scheduledAt = new Date(Date.parse(now) + 3_600_000).toISOString();
  const before = await countDone(server);
  for (let i = 0; i < count; i += BATCH) {
    const to = Array.from({ length: BATCH }, (_, n) => `reader${i + n}@mail.acme.dev`);
    await call(server, "POST", "/api/v1/send", { ...BODY, to, scheduledAt });
  }
  onStart();
  const from = performance.now();
  await call(server, "POST", "/__dev/clock/advance", { by: "1h" });
  const took = performance.now() - from;
  const done = (await countDone(server)) - before;
  if (done !== count) throw new Error(`Of ${count} mails ${done} were delivered.`);
  return took;
}

async function countDone(server: Contender): Promise<number> {
  const pages = await Promise.all(["delivered", "sent"].map((status) => call(server, "GET", `/api/v1/emails?limit=1&status=${status}`)));
  return pages.reduce<number>((sum, page) => sum + (page as { pagination: { total: number } }).pagination.total, 0);
}

/** Starts the sink on the second core, and answers its port and how to end it. */
export async function startSink(): Promise<{ port: string; stop: () => Promise<void> }> {
  const [command = "", ...args] = [...onCore(1), process.execPath, peerFile("sink")];
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    port,
    stop: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
