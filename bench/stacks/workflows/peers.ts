import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../test/support/free-port.ts";
import { call } from "../../contenders.ts";
import { startDatabase } from "../postgres.ts";
import { APPS, killProgram, startProgram } from "../process.ts";
import { App } from "./app.ts";
import type { Engine } from "./engine.ts";

const JSON_ONLY = { "content-type": "application/json" } as const;

export const dbos: Engine = {
  name: "DBOS, Postgres",
  durability: "`fsync = on`, `synchronous_commit = on`",
  missing: () => null,
  start: async (ledgerPort) => {
    const database = await startDatabase();
    const app = await App.start((port) => ["dbos-steps.mjs", database.address, `${ledgerPort}`, `${port}`]);
    return {
      port: app.port,
      request: (n) => ({ path: "/start", headers: JSON_ONLY, body: JSON.stringify({ n }) }),
      pids: () => [app.pid, database.pid()],
      kill: async () => {
        await Promise.all([app.kill(), database.kill()]);
      },
      restart: async () => {
        await database.restart();
        await app.run();
      },
      stop: async () => {
        await app.kill();
        await database.stop();
      },
    };
  },
};

const RESTATE = join(APPS, `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);

export const restate: Engine = {
  name: "Restate",
  durability: "`rocksdb-disable-wal-fsync = false`",
  missing: () => (existsSync(RESTATE) ? null : `Restate has no server for ${process.platform} on ${process.arch}`),
  start: async (ledgerPort) => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-restate-"));
    const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
    writeFileSync(join(folder, "restate.toml"), toConfig(folder, { ingress, admin, node }));
    const app = await App.start((port) => ["restate-steps.mjs", `${ledgerPort}`, `${port}`]);
    let server: ChildProcess | null = null;
    const run = async (): Promise<void> => {
      server = startProgram([RESTATE, "--config-file", join(folder, "restate.toml"), "--no-logo"], folder);
      server.stdout?.resume();
      await healthy(`http://127.0.0.1:${admin}/health`);
      await healthy(`http://127.0.0.1:${ingress}/restate/health`);
    };
    await run();
    await call({ url: `http://127.0.0.1:${admin}`, apiKey: "" }, "POST", "/deployments", { uri: `http://127.0.0.1:${app.port}` });
    const kill = async (): Promise<void> => {
      await Promise.all([app.kill(), killProgram(server)]);
    };
    return {
      port: ingress,
      request: (n) => ({ path: "/bench/start/send", headers: JSON_ONLY, body: JSON.stringify({ n }) }),
      pids: () => [app.pid, server?.pid ?? 0],
      kill,
      restart: async () => {
        await app.run();
        await run();
      },
      stop: async () => {
        await kill();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

/** Configuration of one server that has all roles, as it has by default; only its addresses are set, and that it calls nobody. */
function toConfig(folder: string, { ingress, admin, node }: Readonly<Record<"ingress" | "admin" | "node", number>>): string {
  return [
    'node-name = "bench"',
    `base-dir = "${folder}"`,
    'bind-ip = "127.0.0.1"',
    `bind-port = ${node}`,
    `advertised-address = "http://127.0.0.1:${node}"`,
    'listen-mode = "tcp"',
    "disable-telemetry = true",
    'log-filter = "off"',
    "[admin]",
    `bind-port = ${admin}`,
    "[ingress]",
    `bind-port = ${ingress}`,
    "",
  ].join("\n");
}

async function healthy(url: string): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    const is = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (is) return;
    if (performance.now() > end) throw new Error(`${url} does not answer.`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
