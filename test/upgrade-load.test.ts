import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { createDatabase, type TestDatabase } from "../packages/server/test/postgres.ts";
import { type Api, all, until } from "./support/api.ts";
import { OLD_SECRET_KEY, unpackOnPostgres, unpackOnSqlite } from "./support/old-data.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { newLedger, startTraffic } from "./support/traffic.ts";

/*
 * Day of an upgrade at an operator, with programs as they are shipped and clients that go on sending: the new version is killed while it
 * migrates the old data, a backup is made under load, the server dies under load, and the backup is restored elsewhere.
 */

const CLI = fileURLToPath(new URL("../packages/cli/dist/main.js", import.meta.url));
// UPGRADE_KILLS=50 and more look for what is rare.
const KILLS = Number(process.env.UPGRADE_KILLS ?? 2);
/** Requests that were acknowledged before the backup begins. */
const ACKNOWLEDGED = 100;

let folder = "";
const started: ServerProcess[] = [];
const databases: TestDatabase[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-upgrade-load-"));
});
afterEach(async () => {
  for (const server of started.splice(0)) await server.kill("SIGKILL");
  for (const database of databases.splice(0)) await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Location of an installation: the flags that commands and servers take. */
type Place = { readonly data: string; readonly flags: readonly string[] };

function start({ data, flags }: Place): ServerProcess {
  const server = startServer({ data, flags: ["--dev", "--secret-key", OLD_SECRET_KEY, ...flags] });
  started.push(server);
  return server;
}

async function ready(server: ServerProcess, apiKey: string): Promise<Api> {
  const told = await server.ready();
  if (told === null) throw new Error(`The server did not start: ${server.stderr()}`);
  return { url: told.url, apiKey };
}

const idsOf = async (api: Api): Promise<Set<string>> => new Set((await all<{ id: string }>(api, "/api/v1/emails")).map(({ id }) => id));

async function mailsvc(command: string, file: string, { data, flags }: Place): Promise<void> {
  await promisify(execFile)(process.execPath, [CLI, command, file, "--data", data, ...flags], { env: { PATH: process.env["PATH"] } });
}

async function onPostgres(name: string): Promise<Place> {
  const database = await createDatabase("empty");
  databases.push(database);
  mkdirSync(join(folder, name));
  return { data: join(folder, name), flags: ["--database-url", database.url] };
}

async function unpack(database: "SQLite" | "Postgres") {
  if (database === "SQLite") {
    const data = join(folder, "old");
    return { place: { data, flags: [] }, ...unpackOnSqlite(data) };
  }
  const place = await onPostgres("old");
  return { place, ...(await unpackOnPostgres(place.flags[1] ?? "")) };
}

test.each(["SQLite", "Postgres"] as const)(
  "an upgrade, a backup and a restore under load lose nothing on %s",
  async (database) => {
    const { place, apiKey, emails } = await unpack(database);
    const before = emails.map(({ id }) => id);

    const seed = Number(process.env.UPGRADE_SEED ?? Date.now() % 1_000_000);
    console.log(`upgrade test: seed ${seed} (UPGRADE_SEED repeats its choices)`);
    const random = seededRandom(seed);
    for (let i = 0; i < KILLS; i += 1) {
      const killed = start(place);
      await new Promise((later) => setTimeout(later, 50 + random.fraction() * 400));
      await killed.kill("SIGKILL");
    }
    const server = start(place);
    const api = await ready(server, apiKey);
    const ledger = newLedger();
    const promised = (): string[] => ledger.wishes.flatMap((wish) => wish.promised ?? []);
    const traffic = startTraffic(api, ledger, { connections: 10, pause: 20, random: Math.random });
    const enough = (least: number) =>
      until(
        60,
        async () => promised().length >= least,
        async () => `${promised().length} promises`,
      );
    await enough(ACKNOWLEDGED);
    const beforeBackup = promised();
    const file = join(folder, "monday.backup");
    await mailsvc("backup", file, place);
    await enough(beforeBackup.length + 10);
    expect(await server.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
    await traffic.stop();
    expect(ledger.refused).toEqual([]);

    const again = start(place);
    const survived = await idsOf(await ready(again, apiKey));
    expect([...before, ...promised()].filter((id) => !survived.has(id))).toEqual([]);
    expect(await again.kill("SIGTERM")).toEqual({ code: 0, signal: null });

    const elsewhere = database === "SQLite" ? { data: join(folder, "new"), flags: [] } : await onPostgres("new");
    await mailsvc("restore", file, elsewhere);
    const restored = await idsOf(await ready(start(elsewhere), apiKey));
    expect([...before, ...beforeBackup].filter((id) => !restored.has(id))).toEqual([]);
  },
  240_000,
);
