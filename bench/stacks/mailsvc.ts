import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Mailsvc } from "@mailsvc/sdk";
import { freePort } from "../../test/support/free-port.ts";
import { type ServerProcess, startServer } from "../../test/support/server.ts";
import { call } from "../contenders.ts";
import { onCore } from "../cores.ts";
import { startDatabase } from "./postgres.ts";
import { killProgram } from "./process.ts";
import { CONNECTIONS, type RunningStack, type Stack, toNumber } from "./stack.ts";

const UNLIMITED = ["--rate-limit", "send=1000000,write=1000000,read=1000000"];

export const mailsvcOnSqlite: Stack = {
  name: "mailsvc (SQLite)",
  durability: "flushed before the answer",
  missing: () => null,
  start: async (smtpPort) => (await start(smtpPort, [])).stack,
};

export const mailsvcOnPostgres: Stack = {
  name: "mailsvc (Postgres)",
  durability: "flushed before the answer",
  missing: () => null,
  start: async (smtpPort) => {
    const database = await startDatabase();
    const { stack, kill, restart } = await start(smtpPort, ["--database-url", database.address]);
    return {
      ...stack,
      pids: () => [...stack.pids(), database.pid()],
      kill: async () => {
        await Promise.all([kill(), database.kill()]);
      },
      restart: async () => {
        await database.restart();
        await restart();
      },
      stop: async () => {
        await stack.stop();
        await database.stop();
      },
    };
  },
};

async function start(smtpPort: number, flags: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
  const port = await freePort();
  const smtp = ["--smtp-url", `smtp://127.0.0.1:${smtpPort}?pool=${CONNECTIONS}&messages=1000000`];
  const all = ["--dev", "--port", `${port}`, ...UNLIMITED, ...smtp, ...flags];
  let server: ServerProcess;
  const run = async () => {
    server = startServer({ data: join(folder, "data"), flags: all, before: onCore(0) });
    const ready = await server.ready();
    if (!ready) throw new Error(`The server did not start:\n${server.stderr()}`);
    return ready;
  };
  const ready = await run();
  const access = { url: ready.url, apiKey: ready.apiKey ?? "" };
  await call(access, "POST", "/api/v1/senders", { domain: "bench.acme.dev" });
  const kill = (): Promise<void> => killProgram(server.child);
  const restart = async (): Promise<void> => void (await run());
  const stack: RunningStack = {
    entrance: { kind: "http", port, path: "/api/v1/send", headers: { authorization: `Bearer ${access.apiKey}` } },
    pids: () => [server.child.pid ?? 0],
    kill,
    restart,
    listInDoubt: async () => {
      const client = new Mailsvc({ apiKey: access.apiKey, baseUrl: access.url });
      return (await client.emails.list({ inDoubt: true }).toArray()).map(({ subject }) => toNumber(subject));
    },
    stop: async () => {
      await server.kill("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return { stack, kill, restart };
}
