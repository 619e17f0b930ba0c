import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startServer } from "../test/support/server.ts";
import { onCore } from "./cores.ts";

/** A server under test, on a fresh database and on the first core. */
export interface Contender {
  port: number;
  apiKey: string;
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/**
 * Calls the API, outside the measurement; again while it asks for that: after an import, readers of events may take minutes. Throws if it
 * does not succeed.
 */
export async function call(
  { url, apiKey }: Pick<Contender, "url" | "apiKey">,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const wait = response.status === 503 ? Number(response.headers.get("retry-after")) : 0;
  if (wait > 0) {
    await new Promise((next) => setTimeout(next, wait * 1000));
    return call({ url, apiKey }, method, path, body);
  }
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as unknown;
}

export interface MailsvcOptions {
  /** A folder for the data, which stays when the server stops; by default a fresh one that is removed then. */
  data?: string;
  flags?: readonly string[];
  before?: readonly string[];
  /** Runs on all cores in place of the first one. */
  cores?: "all";
}

/** The built server in dev mode with capture, at the durability it is shipped with, and with a sender that is looked up for each send. */
export async function mailsvc({ data, flags = [], before = [], cores }: MailsvcOptions = {}): Promise<MailsvcContender> {
  const folder = freshFolder();
  // Without a high rate limit, the benchmark would measure the limit.
  const args = [
    "--dev",
    "--rate-limit",
    "send=1000000,write=1000000,read=1000000,agent=1000000/s,message=1000000/s,log=1000000/s",
    ...flags,
  ];
  const server = startServer({
    data: data ?? join(folder, "data"),
    flags: args,
    before: [...before, ...(cores === undefined ? onCore(0) : [])],
  });
  const ready = await server.ready();
  if (!ready?.apiKey) throw new Error(`The server did not start:\n${server.stderr()}`);
  const { url, apiKey, operatorKey, workspaceId, profiles, smtpUrl } = ready;
  const { data: senders } = (await call({ url, apiKey }, "GET", "/api/v1/senders")) as { data: unknown[] };
  if (senders.length === 0) await call({ url, apiKey }, "POST", "/api/v1/senders", { domain: "bench.acme.dev" });
  return {
    port: Number(new URL(url).port),
    url,
    apiKey,
    workspaceId,
    smtpUrl: smtpUrl ?? "",
    operatorKey: operatorKey ?? "",
    builderKey: profiles?.builder.apiKey ?? "",
    pid: server.child.pid ?? 0,
    stop: async () => {
      await server.kill("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A mailsvc under test. */
export interface MailsvcContender extends Contender {
  workspaceId: string;
  /** URL of its SMTP server. */
  smtpUrl: string;
  operatorKey: string;
  /** The key of another workspace. */
  builderKey: string;
}

/** One of the peers in `peers/`, which print their port when they listen. */
export async function peer(name: "naive" | "empty", before: readonly string[] = []): Promise<Contender> {
  const folder = freshFolder();
  const apiKey = "ms_live_bench";
  const file = fileURLToPath(new URL(`peers/${name}.ts`, import.meta.url));
  const [command = "", ...args] = [...before, ...onCore(0), process.execPath, file, folder, apiKey];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const [line] = (await Promise.race([once(createInterface(child.stdout), "line"), closed.then(() => ["0"])])) as [string];
  const port = Number(line);
  if (port === 0) throw new Error(`The peer ${name} did not start.`);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    apiKey,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill("SIGKILL");
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), "mailsvc-bench-"));
}
