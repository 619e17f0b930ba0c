import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../test/support/free-port.ts";
import { call, type MailsvcOptions, mailsvc } from "../../contenders.ts";
import { startDatabase } from "../postgres.ts";
import { App } from "../workflows/app.ts";
import { RECIPIENT } from "./mails.ts";

/** A program that receives mail over SMTP. */
export interface RunningReceiver {
  readonly port: number;
  /** Its processes, the database's among them. */
  pids(): readonly number[];
  /** Throws unless the sender of the last mail has passed SPF, DKIM and DMARC. */
  assertProven(): Promise<void>;
  stop(): Promise<void>;
}

/** Receiver to compare. */
export interface Receiver {
  readonly name: string;
  /** Setting by which a mail is flushed before the answer. */
  readonly durability: string;
  start(): Promise<RunningReceiver>;
}

export const onSqlite: Receiver = {
  name: "mailsvc (SQLite)",
  durability: "`synchronous = FULL`",
  start: () => startMailsvc({}),
};

export const onPostgres: Receiver = {
  name: "mailsvc (Postgres)",
  durability: "`fsync = on`, `synchronous_commit = on`",
  start: async () => {
    const database = await startDatabase();
    const running = await startMailsvc({ flags: ["--database-url", database.address] });
    return {
      ...running,
      pids: () => [...running.pids(), database.pid()],
      stop: async () => {
        await running.stop();
        await database.stop();
      },
    };
  },
};

export const libraries: Receiver = {
  name: "smtp-server, mailauth and mailparser, SQLite",
  durability: "`synchronous = FULL`",
  start: async () => {
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-receiver-"));
    const app = await App.start((port) => ["receiver.mjs", join(folder, "mails.db"), `${port}`]);
    return {
      port: app.port,
      pids: () => [app.pid],
      // It refuses a mail of another sender.
      assertProven: async () => {},
      stop: async () => {
        await app.kill();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

async function startMailsvc({ flags = [] }: MailsvcOptions): Promise<RunningReceiver> {
  const port = await freePort();
  // Mail of this machine is checked like that of others.
  const inbound = ["--inbound-domain", "bounces.bench.example", "--inbound-smtp-port", `${port}`, "--inbound-trust", "none"];
  const server = await mailsvc({ flags: [...inbound, ...flags] });
  await call(server, "POST", "/api/v1/inbound-domains", { domain: RECIPIENT.split("@")[1] });
  return {
    port,
    pids: () => [server.pid],
    assertProven: async () => {
      const { data } = (await call(server, "GET", "/api/v1/received?limit=1")) as { data: { authentication: unknown }[] };
      const { spf, dkim, dmarc } = (data[0]?.authentication ?? {}) as Readonly<Record<string, string>>;
      if ([spf, dkim, dmarc].some((result) => result !== "pass")) throw new Error(`The sender is not proven: ${[spf, dkim, dmarc]}.`);
    },
    stop: server.stop,
  };
}
