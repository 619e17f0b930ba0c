import { type ChildProcess, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../test/support/free-port.ts";
import { type Storage, startDatabase } from "./postgres.ts";
import { firstLine, killProgram, listening, startProgram } from "./process.ts";
import { CONNECTIONS, type RunningStack, type Stack } from "./stack.ts";

const JSON_ONLY = { kind: "http", path: "/send", headers: {} } as const;

export const bullmqAlways = bullmq("always", "flushed before the answer");
export const bullmqEverySecond = bullmq("everysec", "flushed once a second");

export const graphileWorker: Stack = {
  name: "graphile-worker, fastify and nodemailer",
  durability: "flushed before the answer",
  missing: () => null,
  start: async (smtpPort) => startQueue("graphile.mjs", await startDatabase(), smtpPort),
};

export const pgBoss: Stack = {
  name: "pg-boss, fastify and nodemailer",
  durability: "flushed before the answer",
  missing: () => null,
  start: async (smtpPort) => startQueue("pg-boss.mjs", await startDatabase(), smtpPort),
};

function bullmq(appendfsync: "always" | "everysec", durability: string): Stack {
  return {
    name: `BullMQ on Redis (appendfsync ${appendfsync}), fastify and nodemailer`,
    durability,
    missing: () => {
      try {
        execFileSync("redis-server", ["--version"], { stdio: "ignore" });
        return null;
      } catch {
        return "Redis is not installed (apt-get install redis-server)";
      }
    },
    start: async (smtpPort) => startQueue("bullmq.mjs", await startRedis(appendfsync), smtpPort),
  };
}

/** Starts an application in front of its storage. */
async function startQueue(app: string, storage: Storage, smtpPort: number): Promise<RunningStack> {
  const port = await freePort();
  let child: ChildProcess | null = null;
  const run = async (): Promise<void> => {
    child = startProgram([process.execPath, app, storage.address, `${smtpPort}`, `${CONNECTIONS}`, `${port}`]);
    await firstLine(child);
  };
  await run();
  return {
    entrance: { ...JSON_ONLY, port },
    pids: () => [child?.pid ?? 0, storage.pid()],
    kill: async () => {
      await Promise.all([killProgram(child), storage.kill()]);
    },
    restart: async () => {
      await storage.restart();
      await run();
    },
    listInDoubt: async () => [],
    stop: async () => {
      await killProgram(child);
      await storage.stop();
    },
  };
}

async function startRedis(appendfsync: string): Promise<Storage> {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-redis-"));
  const port = await freePort();
  const settings = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--maxmemory-policy", "noeviction"];
  let child: ChildProcess | null = null;
  const run = async (): Promise<void> => {
    child = startProgram(["redis-server", ...settings, "--appendonly", "yes", "--appendfsync", appendfsync, "--loglevel", "warning"]);
    await listening(port, false);
  };
  await run();
  return {
    address: `${port}`,
    pid: () => child?.pid ?? 0,
    kill: () => killProgram(child),
    restart: run,
    stop: async () => {
      await killProgram(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
