import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { root } from "./support/sources.ts";

/*
 * Holds a listening socket as systemd does, and runs one server after the other on it, each until somebody stops it. It never accepts a
 * connection itself, because it waits for its children without a turn of its event loop.
 */
const SUPERVISOR = `
const { spawnSync } = require("node:child_process");
const server = require("node:net").createServer();
server.listen({ host: "127.0.0.1", port: 0, backlog: 4096 }, () => {
  console.log("port " + server.address().port);
  const [program, ...argv] = process.argv.slice(1);
  for (let run = 0; run < 3; run += 1)
    spawnSync("sh", ["-c", 'echo "pid $$"; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"', program, ...argv],
      { stdio: ["ignore", "inherit", "inherit", server._handle.fd] });
  process.exit(0);
});`;

test("servers that are restarted behind a socket that stays refuse no request", async () => {
  const data = mkdtempSync(join(tmpdir(), "mailsvc-socket-"));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const server = [`${root}packages/server/dist/main.js`, "--data", data, "--port", "1"];
  const supervisor = spawn(process.execPath, ["-e", SUPERVISOR, "--", process.execPath, ...server], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void supervisor.kill("SIGKILL"));
  const pids: number[] = [];
  const ready = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const port = Promise.withResolvers<number>();
  createInterface({ input: supervisor.stdout }).on("line", (line) => {
    const [word, number] = line.split(" ");
    if (word === "port") port.resolve(Number(number));
    else if (word === "pid") pids.push(Number(number));
    else if (line.startsWith("{")) ready[pids.length - 1]?.resolve();
  });
  onTestFinished(() => {
    for (const pid of pids.slice(-1)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended.
      }
    }
  });
  const url = `http://127.0.0.1:${await port.promise}/healthz`;
  await ready[0]?.promise;
  let asking = true;
  const answers: number[] = [];
  const ask = async (): Promise<void> => {
    // Each request has a connection of its own, as one that reaches a port for the first time.
    while (asking) answers.push((await fetch(url, { headers: { connection: "close" } })).status);
  };
  const clients = [ask(), ask(), ask(), ask()];
  for (const next of [1, 2]) {
    process.kill(pids.at(-1) ?? 0, "SIGTERM");
    await ready[next]?.promise;
  }
  asking = false;
  await Promise.all(clients);
  expect(new Set(answers)).toEqual(new Set([200]));
  expect(pids).toHaveLength(3);
  process.kill(pids.at(-1) ?? 0, "SIGTERM");
  await once(supervisor, "exit");
});
