import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { PostgresServer } from "../../packages/server/test/postgres-server.ts";
import { mailsvc } from "../contenders.ts";
import type { Bench, Figure } from "../figure.ts";
import { CONNECTIONS, deliverAll, onPostgres, startSink } from "./drain.ts";

const MB = 1e6;
const WARM_UP = 500;

/** Needs of a machine: disk for stored mails, and peak memory. */
export const sizing: Bench = {
  name: "sizing",
  meaning:
    "Disk per million mails of about 1 KB, sent by SMTP and kept with their events, and the most memory the server had; --rows says how many mails are sent, 9,000 at most (lists count to 10,000). The contents of 50 recipients are stored once.",
  onlyByName: true,
  run: async ({ rows }) => {
    const sink = await startSink();
    const flags = ["--smtp-url", `smtp://127.0.0.1:${sink.port}?pool=${CONNECTIONS}&messages=1000000`];
    try {
      return [
        ...(await measure("sqlite", rows, flags, null)),
        ...(await onPostgres((database) => measure("postgres", rows, flags, database))),
      ];
    } finally {
      await sink.stop();
    }
  },
};

async function measure(name: string, mails: number, flags: readonly string[], database: PostgresServer | null): Promise<Figure[]> {
  const data = mkdtempSync(join(tmpdir(), "mailsvc-sizing-"));
  const sizeNow = (): Promise<number> => (database ? sizeOfDatabase(database.url) : Promise.resolve(sizeOfFolder(data)));
  const server = await mailsvc({ data, flags: [...flags, ...(database ? ["--database-url", database.url] : [])] });
  let stopped = false;
  try {
    const freeze = await fetch(`${server.url}/__dev/clock/freeze`, { method: "POST" });
    if (!freeze.ok) throw new Error(`The clock could not be frozen: ${freeze.status}`);
    const before = await sizeNow();
    await deliverAll(server, WARM_UP, () => {});
    const ms = await deliverAll(server, mails, () => {});
    const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) * 1024;
    // Stopping moves SQLite's log into the database.
    if (!database) await server.stop();
    stopped = !database;
    const bytes = (await sizeNow()) - before;
    const figure = (what: string, value: number, unit: string): Figure => ({
      name: `sizing.${name}.${what}`,
      value,
      unit,
      against: null,
      ratio: null,
      rounds: [value],
    });
    return [
      figure("rate", (mails * 1000) / ms, "mails/s"),
      figure("memory", peak / MB, "MB"),
      figure("disk", bytes / (mails + WARM_UP) / 1000, "GB a million"),
    ];
  } finally {
    if (!stopped) await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

function sizeOfFolder(folder: string): number {
  return readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}

async function sizeOfDatabase(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select pg_database_size(current_database()) as size");
  await client.end();
  return Number(rows[0].size);
}
