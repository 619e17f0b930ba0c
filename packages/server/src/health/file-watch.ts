import { open, readFile } from "node:fs/promises";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";

const INTERVAL_MS = 1000;
const LOG_MS = 10_000;
/** The share of the limit from which on the log warns. */
const FULL = 0.9;

interface FileWatchOptions {
  readonly real: Clock["real"];
  readonly log: Log;
  /** The number that the next open file gets. */
  readonly readNext?: () => Promise<number>;
  /** Reads the number of files the process may open; Infinity where the system does not tell. */
  readonly readLimit?: () => Promise<number>;
}

/** Watch on file descriptors. `exhausted`: the number of times none was free. */
export interface FileWatch {
  readonly exhausted: number;
  stop(): void;
}

/**
 * Watches how many files and connections the process may still open. The kernel and Node close connections silently for which there is
 * no descriptor, so nothing else would tell.
 */
export async function watchFiles({ real, log, readNext = openNext, readLimit = readFileLimit }: FileWatchOptions): Promise<FileWatch> {
  const limit = await readLimit();
  const watch = { exhausted: 0, stop: () => {} };
  let stopped = false;
  let timer: Timer | null = null;
  let loggedAt = Number.NEGATIVE_INFINITY;
  const say = (message: string): void => {
    if (real.now() - loggedAt < LOG_MS) return;
    loggedAt = real.now();
    log.error(message, { limit, exhausted: watch.exhausted });
  };
  const check = async (): Promise<void> => {
    try {
      if ((await readNext()) >= limit * FULL)
        say("few file descriptors are left: raise the limit of open files (LimitNOFILE, ulimit -n) or lower --max-connections");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EMFILE" || code === "ENFILE") {
        watch.exhausted += 1;
        say(
          "no file descriptor is left, and connections are reset: raise the limit of open files (LimitNOFILE, ulimit -n) or lower --max-connections",
        );
      }
    }
    if (!stopped) timer = real.after(INTERVAL_MS, () => void check());
  };
  await check();
  watch.stop = () => {
    stopped = true;
    timer?.cancel();
  };
  return watch;
}

/** The system gives the lowest number that is free, so this tells how many are in use. */
async function openNext(): Promise<number> {
  const file = await open("/dev/null", "r");
  const { fd } = file;
  await file.close();
  return fd;
}

async function readFileLimit(): Promise<number> {
  const text = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const [, soft] = /^Max open files\s+(\d+)/m.exec(text) ?? [];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}
