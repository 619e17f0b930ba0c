import { statfs } from "node:fs/promises";
import type { StorageHealth } from "../http/storage-health.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { MB } from "../lib/units.ts";

const INTERVAL_MS = 5000;

interface DiskWatchOptions {
  /** A folder on the disk to watch. */
  readonly folder: string;
  /** Below this many free bytes, writes are refused. */
  readonly minFreeBytes: number;
  readonly storage: StorageHealth;
  readonly real: Clock["real"];
  readonly log: Log;
  /** The free bytes of the disk a folder is on. */
  readonly readFree?: (folder: string) => Promise<number>;
}

/**
 * Watches the free space of a disk, so that writes are refused with a clear message before the disk is full: what was accepted can
 * then still be delivered. Checks once before it returns, and then every 5 s. Gives a function that stops the watch.
 */
export async function watchDisk(options: DiskWatchOptions): Promise<() => void> {
  const { folder, minFreeBytes, storage, real, log, readFree = readFreeBytes } = options;
  let stopped = false;
  let timer: Timer | null = null;
  const check = async (): Promise<void> => {
    // A disk that does not tell is not taken for full.
    const free = await readFree(folder).catch(() => Number.POSITIVE_INFINITY);
    const low = free < minFreeBytes;
    if (low && storage.lowDisk === null) log.error("disk nearly full: writes are refused", { freeMb: Math.floor(free / MB), folder });
    if (!low && storage.lowDisk !== null) log.info("disk has room again: writes are accepted", { freeMb: Math.floor(free / MB), folder });
    storage.lowDisk = low
      ? `The disk is nearly full: ${Math.floor(free / MB)} MB are free, and ${Math.ceil(minFreeBytes / MB)} MB must be (--min-free-disk).`
      : null;
    if (!stopped) timer = real.after(INTERVAL_MS, () => void check());
  };
  await check();
  return () => {
    stopped = true;
    timer?.cancel();
  };
}

async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
