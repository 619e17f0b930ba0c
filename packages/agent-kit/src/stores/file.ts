import { Buffer } from "node:buffer";
import { type FileHandle, mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { currentTime } from "../runtime.ts";
import { lockFile } from "./file-lock.ts";
import type { Store } from "./store.ts";

/** A store in a file. */
export interface FileStore extends Store {
  /** Lets another process open the file. */
  close(): Promise<void>;
}

interface Entry {
  readonly value: string;
  readonly expiresAt: number | null;
}

/** A line of the file: a key, its new value (null: none) and when it expires (ms since 1970, null: never). */
type Line = readonly [key: string, value: string | null, expiresAt: number | null];

interface Write {
  readonly line: Line;
  readonly from: string | null;
  readonly done: (swapped: boolean) => void;
  readonly failed: (error: unknown) => void;
}

// The file is written anew when it has this many times more lines than entries.
const COMPACT_AT = 4;
const COMPACT_MIN = 1000;

/**
 * A store in one file, for one process at a time, on its own disk: for an agent on a single machine. Writes are appended and
 * flushed before they count; writes that come together share a flush. A line that a crash cut short is ignored. Each use throws
 * UsageError while another process has the file, and opens it once that has ended.
 */
export function fileStore(path: string): FileStore {
  let opened: Promise<Opened> | undefined;
  const use = (): Promise<Opened> => {
    if (opened) return opened;
    const opening = openFile(path);
    opened = opening;
    // The obstacle may be gone at the next use.
    opening.catch(() => {
      if (opened === opening) opened = undefined;
    });
    return opening;
  };
  return {
    get: async (key) => (await use()).read(key)?.value ?? null,
    swap: async (key, from, to, ttlMs) => (await use()).write(key, from, to, ttlMs),
    list: async (prefix) => (await use()).list(prefix),
    close: async () => {
      const file = await opened?.catch(() => undefined);
      opened = undefined;
      await file?.close();
    },
  };
}

interface Opened {
  read(key: string): Entry | undefined;
  write(key: string, from: string | null, to: string | null, ttlMs: number | undefined): Promise<boolean>;
  list(prefix: string): string[];
  close(): Promise<void>;
}

async function openFile(path: string): Promise<Opened> {
  await mkdir(dirname(path), { recursive: true });
  const unlock = await lockFile(resolve(`${path}.lock`));
  try {
    return await load(path, unlock);
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function load(path: string, unlock: () => Promise<void>): Promise<Opened> {
  const entries = readLines(await readFile(path, "utf8").catch(ifMissing("")));
  let lines = 0;
  let length = 0;
  let file: FileHandle;
  let queue: Write[] = [];
  let writing: Promise<void> | null = null;
  let broken: unknown;

  const read = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    return entry && entry.expiresAt !== null && entry.expiresAt <= currentTime() ? undefined : entry;
  };

  /** Writes the file anew, with the entries there are. */
  const compact = async (): Promise<void> => {
    for (const key of [...entries.keys()]) if (!read(key)) entries.delete(key);
    const text = [...entries].map(([key, { value, expiresAt }]) => toText([key, value, expiresAt])).join("");
    await writeFile(`${path}.new`, text, { mode: 0o600, flush: true });
    await file?.close();
    await rename(`${path}.new`, path);
    await flushFolder(dirname(path));
    file = await open(path, "r+");
    lines = entries.size;
    length = Buffer.byteLength(text);
  };

  /** Decides the writes that came together, one after the other, and writes what changes with one flush. */
  const flush = async (batch: readonly Write[]): Promise<void> => {
    const pending = new Map<string, Line>();
    const current = (key: string): string | null => {
      const line = pending.get(key);
      return line ? line[1] : (read(key)?.value ?? null);
    };
    const results = batch.map(({ line, from }) => {
      const swapped = current(line[0]) === from;
      if (swapped) pending.set(line[0], line);
      return swapped;
    });
    try {
      if (broken) throw broken;
      await append([...pending.values()]);
    } catch (error) {
      for (const { failed } of batch) failed(error);
      return;
    }
    for (const [key, value, expiresAt] of pending.values()) {
      if (value === null) entries.delete(key);
      else entries.set(key, { value, expiresAt });
    }
    for (const [i, { done }] of batch.entries()) done(results[i] as boolean);
  };

  const append = async (batch: readonly Line[]): Promise<void> => {
    if (batch.length === 0) return;
    if (lines > COMPACT_MIN && lines > COMPACT_AT * entries.size) await compact();
    const bytes = Buffer.from(batch.map(toText).join(""));
    try {
      await file.write(bytes, 0, bytes.length, length);
      await file.datasync();
    } catch (error) {
      // Removes a partial write, which must not be read as a line later.
      await file.truncate(length).catch((cause) => (broken = cause));
      throw error;
    }
    length += bytes.length;
    lines += batch.length;
  };

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      await flush(batch);
    }
    writing = null;
  };

  await compact();
  return {
    read,
    write: (key, from, to, ttlMs) =>
      new Promise((done, failed) => {
        const line: Line = [key, to, ttlMs === undefined ? null : currentTime() + ttlMs];
        queue.push({ line, from, done, failed });
        writing ??= drain();
      }),
    list: (prefix) => [...entries].flatMap(([key, { expiresAt }]) => (expiresAt === null && key.startsWith(prefix) ? [key] : [])).sort(),
    close: async () => {
      await writing;
      await file.close();
      await unlock();
    },
  };
}

function toText(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

/** The entries of a file. The last line has no line break if a crash cut it short. */
function readLines(text: string): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const line of text.split("\n").slice(0, -1)) {
    const [key, value, expiresAt] = JSON.parse(line) as Line;
    if (value === null) entries.delete(key);
    else entries.set(key, { value, expiresAt });
  }
  return entries;
}

/** Makes the names of a folder's files last. Windows does that with the files, and refuses it for folders. */
async function flushFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function ifMissing<T>(value: T): (error: { code?: string }) => T {
  return (error) => {
    if (error.code !== "ENOENT") throw error;
    return value;
  };
}
