import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { sampleEvent } from "../../../packages/agent-kit/src/testing/sample-events.ts";
import { signedRequest } from "../../../packages/agent-kit/src/testing/signed-request.ts";
import { type Storage, startDatabase } from "../postgres.ts";
import { App } from "./app.ts";
import { type Engine, openStarter, type RunningEngine, type StartRequest } from "./engine.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

export const kitOnSqlite: Engine = {
  name: "agent kit on SQLite",
  durability: "`synchronous = FULL`",
  missing: () => null,
  start: async (ledgerPort) => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-kit-"));
    const stop = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
    return startKit(`sqlite:${join(folder, "agent.db")}`, ledgerPort, {
      pids: () => [],
      kill: async () => {},
      restart: async () => {},
      stop,
    });
  },
};

export const kitOnPostgres: Engine = {
  name: "agent kit on Postgres",
  durability: "`fsync = on`, `synchronous_commit = on`",
  missing: () => null,
  start: async (ledgerPort) => {
    const database = await startDatabase();
    return startKit(database.address, ledgerPort, { ...database, pids: () => [database.pid()] });
  },
};

/** Starts an agent on its store, whose events each start a run. */
async function startKit(
  address: string,
  ledgerPort: number,
  store: Pick<Storage, "kill" | "restart" | "stop"> & { pids(): readonly number[] },
): Promise<RunningEngine> {
  const service = await startService();
  const { port: servicePort } = service.address() as AddressInfo;
  const app = await App.start((port) => ["kit-steps.mjs", address, `http://127.0.0.1:${servicePort}`, SECRET, `${ledgerPort}`, `${port}`]);
  const running: RunningEngine = {
    port: app.port,
    request: (n) => toRequest(sampleEvent("message.posted", { id: `evt_${n}`, text: `${n}` })),
    pids: () => [app.pid, ...store.pids()],
    kill: async () => {
      await Promise.all([app.kill(), store.kill()]);
    },
    restart: async () => {
      await store.restart();
      await app.run();
    },
    stop: async () => {
      await app.kill();
      await store.stop();
      service.closeAllConnections();
      service.close();
    },
  };
  // The key of the activation comes with its first event.
  const starter = openStarter({ ...running, request: () => toRequest(sampleEvent("agent.activated")) });
  await starter.start(0);
  await starter.close();
  return running;
}

function toRequest(event: object): StartRequest {
  const { headers, body } = signedRequest(event, { secret: SECRET });
  return { path: "/", headers, body };
}

/** The service as far as a run needs it: it is told of its start and its end. It runs beside the load, as it would on another machine. */
async function startService(): Promise<Server> {
  const completed = new Set<string>();
  const server = createServer(async (req, res) => {
    const { runId } = JSON.parse(await text(req)) as { runId: string };
    if (req.url?.endsWith("/runs/complete")) completed.add(runId);
    const status = completed.has(runId) ? "COMPLETED" : "RUNNING";
    res.setHeader("content-type", "application/json");
    res.end(
      JSON.stringify({ runId, status, summary: null, output: null, logSequence: 0, heartbeatIntervalSeconds: 60, cancelRequested: false }),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}
