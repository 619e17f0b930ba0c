import type { StorageHealth } from "../http/storage-health.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { MB } from "../lib/units.ts";
import type { DiskReserve } from "./disk-reserve.ts";

const LONGEST_MS = 5000;
const SHORTEST_MS = 50;
/** Pause while writes are refused already. */
const LOW_MS = 1000;
/** Fastest writing to expect, 400 MB a second: the disk is checked again before that could fill it. */
const BYTES_PER_MS = (400 * MB) / 1000;

interface DiskWatchOptions {
  /** A folder on the disk to watch. */
  readonly folder: string;
  /** Below this many free bytes, writes are refused. */
  readonly minFreeBytes: number;
  readonly storage: StorageHealth;
  readonly real: Clock["real"];
  readonly log: Log;
  readonly reserve: Pick<DiskReserve, "adjust">;
}

/**
 * Watches the free space of a disk, so that writes are refused with a clear message before the disk is full: accepted mail can then still
 * be delivered. Gives up the reserve of a full disk, and keeps it again when there is room. Checks once before it returns, and then more
 * often the less space is left above the watermark, at least every 5 s. Returns a function that stops the watch.
 */
export async function watchDisk(options: DiskWatchOptions): Promise<() => void> {
  const { folder, minFreeBytes, storage, real, log, reserve } = options;
  let stopped = false;
  let timer: Timer | null = null;
  const check = async (): Promise<void> => {
    const free = await reserve.adjust(minFreeBytes);
    const low = free < minFreeBytes;
    if (low && storage.lowDisk === null) log.error("disk nearly full: writes are refused", { freeMb: Math.floor(free / MB), folder });
    if (!low && storage.lowDisk !== null) log.info("disk has room again: writes are accepted", { freeMb: Math.floor(free / MB), folder });
    storage.lowDisk = low
      ? `The disk is nearly full: ${Math.floor(free / MB)} MB are free, and ${Math.ceil(minFreeBytes / MB)} MB must be (--min-free-disk).`
      : null;
    const pause = low ? LOW_MS : Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (free - minFreeBytes) / BYTES_PER_MS));
    if (!stopped) timer = real.after(pause, () => void check());
  };
  await check();
  return () => {
    stopped = true;
    timer?.cancel();
  };
}
