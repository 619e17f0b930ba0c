import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "../../../test/support/free-port.ts";

export interface RedisServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** A private Redis on a loopback port, with an append-only file in its own folder. Throws when none is installed. */
export async function startRedis(): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), "mailsvc-redis-"));
  const port = await freePort();
  const flags = { bind: "127.0.0.1", port: String(port), dir: folder, appendonly: "yes", save: "", daemonize: "no" };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const server = spawn(getProgram(), args, { stdio: ["ignore", "pipe", "inherit"] });
  await untilReady(server);
  return {
    port,
    stop: async () => {
      const ended = new Promise((done) => server.once("exit", done));
      if (server.exitCode === null && server.kill()) await ended;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function getProgram(): string {
  for (const folder of (process.env.PATH ?? "").split(delimiter).concat("/usr/bin")) {
    const path = join(folder, "redis-server");
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  throw new Error("Redis is not installed: apt-get install redis-server");
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((ready, failed) => {
    let said = "";
    server.once("error", failed);
    server.once("exit", () => failed(new Error(`Redis ended: ${said}`)));
    server.stdout?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.includes("Ready to accept connections")) ready();
    });
  });
}
