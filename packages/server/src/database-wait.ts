import { createServer, type Server } from "node:http";
import type { Config } from "./config.ts";
import { StorageUnavailable } from "./db/errors.ts";
import { toListenError } from "./http/listen-error.ts";
import type { Clock } from "./lib/clock.ts";
import type { Log } from "./lib/log.ts";
import { version } from "./version.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;
const LOG_MS = 10_000;

/** A start that somebody ended while it waited. */
export class StartEnded extends Error {
  override name = "StartEnded";
}

interface WaitOptions {
  readonly config: Pick<Config, "host" | "port" | "https" | "databaseUrl" | "dev" | "listenFds">;
  readonly real: Clock["real"];
  readonly log: Log;
  /** Ends the wait at once. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Repeats what a start does with its database until that is there: after a reboot, Postgres may need a minute longer than the server. Says
 * every ten seconds what it waits for. Meanwhile the port answers: `/healthz` as ever, all else 503. Throws what no time
 * mends, StartEnded, or ListenError.
 */
export async function waitForDatabase<T>(open: () => Promise<T>, { config, real, log, signal }: WaitOptions): Promise<T> {
  // A folder is there or not.
  if (config.dev || config.databaseUrl === null) return open();
  let pauseMs = FIRST_PAUSE_MS;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let waiting: WaitingPort | null = null;
  const begin = real.now();
  try {
    for (;;) {
      try {
        const opened = await untilEnded(open(), signal);
        if (waiting !== null) log.info("the database is there", { waitedMs: Math.round(real.now() - begin) });
        return opened;
      } catch (error) {
        if (!(error instanceof StorageUnavailable) || !error.isAway) throw error;
        if (real.now() - loggedAt >= LOG_MS) {
          log.warn("waiting for the database", { reason: error.message });
          loggedAt = real.now();
        }
        waiting ??= await openWaitingPort(config);
        waiting.reason = error.message;
      }
      await untilEnded(real.sleep(pauseMs), signal);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  } finally {
    await waiting?.close();
  }
}

/** The same promise, which fails with StartEnded as soon as the signal comes. */
function untilEnded<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const end = (): void => reject(new StartEnded("The start was ended."));
    if (signal.aborted) return end();
    signal.addEventListener("abort", end, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

interface WaitingPort {
  reason: string;
  close(): Promise<void>;
}

/** Answers on the port of the server. Ports that any may be, sockets that a supervisor holds, and HTTPS are left closed meanwhile. */
async function openWaitingPort({ host, port, https, listenFds }: WaitOptions["config"]): Promise<WaitingPort> {
  const waiting: WaitingPort = { reason: "", close: async () => {} };
  if (https || port === 0 || listenFds > 0) return waiting;
  const server = createServer((req, res) => {
    const live = req.url === "/healthz";
    const error = { code: "storage_unavailable", message: `The server waits for its database. ${waiting.reason}` };
    const body = JSON.stringify(live ? { status: "ok", version } : { error });
    req.resume();
    res.writeHead(live ? 200 : 503, { "content-type": "application/json", connection: "close", ...(!live && { "retry-after": "5" }) });
    res.end(body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(toListenError(error, { host, port })));
    server.listen({ host, port }, resolve);
  });
  waiting.close = () => closeServer(server);
  return waiting;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}
