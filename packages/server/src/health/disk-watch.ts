import { rmSync, statSync, truncateSync } from "node:fs";
import { rename, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StorageHealth } from "../http/storage-health.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { secureRandom } from "../lib/random.ts";
import { MB } from "../lib/units.ts";

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

/** The name of the file in a data folder. */
export const RESERVE_FILE = "disk-reserve";

// Enough for the locks and the log of the database: 1,000 pages of it are 4 MB.
const SIZE = 16 * MB;
/** With less free space the file is given up. */
const GIVE_UP_BELOW = 4 * MB;

interface DiskReserveOptions {
  readonly folder: string;
  readonly log: Log;
  /** False for data that is thrown away, which has no reserve. */
  readonly isKept: boolean;
  readonly readFree?: (folder: string) => Promise<number>;
}

/**
 * A file in a data folder that takes space while there is some. It is emptied when the disk is full, so that a server can start, and
 * records can be deleted, although no byte is left for the log of the database. Its space counts as taken until it is back.
 */
export class DiskReserve {
  readonly #file: string;
  readonly #options: DiskReserveOptions;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
    this.#file = join(options.folder, RESERVE_FILE);
  }

  /** Gives up the space of the file if the disk is full. Returns the free bytes then; a disk that does not tell is not taken for full. */
  async giveUp(): Promise<number> {
    const free = await this.#readFree();
    const size = this.#readSize() ?? 0;
    if (free >= GIVE_UP_BELOW || size === 0) return free;
    truncateSync(this.#file);
    const { folder, log } = this.#options;
    log.error("disk full: its reserve is given up, so that records can be deleted", { folder, reserveMb: Math.floor(size / MB) });
    return this.#readFree();
  }

  /** The same, or takes the space again where that leaves `minFree` bytes. Returns the free bytes without those that the file needs. */
  async adjust(minFree: number): Promise<number> {
    const free = await this.giveUp();
    const size = this.#readSize();
    if (size !== null && size >= SIZE) return free;
    if (this.#options.isKept && Number.isFinite(free) && free - SIZE >= minFree && (await this.#take())) return free - SIZE;
    return size === null ? free : Math.max(0, free - SIZE);
  }

  async #take(): Promise<boolean> {
    const unfinished = `${this.#file}.new`;
    try {
      // Random bytes, which no file system compresses.
      await writeFile(unfinished, secureRandom().bytes(SIZE), { mode: 0o600 });
      await rename(unfinished, this.#file);
      return true;
    } catch {
      rmSync(unfinished, { force: true });
      return false;
    }
  }

  /** Null while the disk never had room for the file. */
  #readSize(): number | null {
    return statSync(this.#file, { throwIfNoEntry: false })?.size ?? null;
  }

  async #readFree(): Promise<number> {
    const { folder, readFree = readFreeBytes } = this.#options;
    return readFree(folder).catch(() => Number.POSITIVE_INFINITY);
  }
}

async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
