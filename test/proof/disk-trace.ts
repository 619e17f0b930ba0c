import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** Operation of a program on a file, as strace saw it. Times are ms since 1970. */
export type DiskEvent = { readonly path: string; readonly startedAt: number; readonly endedAt: number } & (
  | { readonly kind: "write"; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly length: number }
  | { readonly kind: "sync" }
  | { readonly kind: "unlink" }
);

/** Command line of strace that writes a trace for `readDiskTrace`. */
export const straceCommand = (file: string): string[] => [
  ...["strace", "-f", "-ttt", "-T", "-y", "-xx", "-s", "16777216", "-o", file],
  ...["-e", "trace=pwrite64,ftruncate,fdatasync,fsync,unlink"],
];

const LINE = /^(\d+) +(\d+\.\d+) (.*)$/;
const RESUMED = /^<\.\.\. \w+ resumed>/;
const RETURNED = /\) += (-?\d+).*<(\d+\.\d+)>$/;
const CALL = /^(\w+)\((?:\d+<([^>]*)>|"([^"]*)")/;
const WRITE = /, "([^"]*)", \d+, (\d+)/;
const LENGTH = /, (\d+)/;

/** Reads the calls that succeeded, in the order in which they began. */
export async function readDiskTrace(file: string): Promise<DiskEvent[]> {
  const events: DiskEvent[] = [];
  const unfinished = new Map<string, { readonly call: string; readonly startedAt: number }>();
  for await (const line of createInterface({ input: createReadStream(file, "latin1") })) {
    const [, thread = "", time = "", rest = ""] = LINE.exec(line) ?? [];
    if (rest.endsWith("<unfinished ...>")) {
      unfinished.set(thread, { call: rest, startedAt: Number(time) * 1000 });
      continue;
    }
    const returned = RETURNED.exec(rest);
    if (returned === null) continue;
    const begun = RESUMED.test(rest) ? unfinished.get(thread) : { call: rest, startedAt: Number(time) * 1000 };
    unfinished.delete(thread);
    if (begun === undefined || Number(returned[1]) < 0) continue;
    const event = toEvent(begun.call, begun.startedAt, begun.startedAt + Number(returned[2]) * 1000);
    if (event !== null) events.push(event);
  }
  return events.sort((one, other) => one.startedAt - other.startedAt);
}

function toEvent(call: string, startedAt: number, endedAt: number): DiskEvent | null {
  const [, name, opened, named] = CALL.exec(call) ?? [];
  const at = { path: decode(opened ?? named ?? "").toString(), startedAt, endedAt };
  switch (name) {
    case "pwrite64": {
      const [, bytes = "", offset] = WRITE.exec(call) ?? [];
      return { ...at, kind: "write", offset: Number(offset), bytes: decode(bytes) };
    }
    case "ftruncate":
      return { ...at, kind: "truncate", length: Number(LENGTH.exec(call)?.[1]) };
    case "fdatasync":
    case "fsync":
      return { ...at, kind: "sync" };
    case "unlink":
      return { ...at, kind: "unlink" };
    default:
      return null;
  }
}

/** Text as strace prints it with -xx: \x and two digits for each byte. */
function decode(text: string): Buffer {
  return text.startsWith("\\x") ? Buffer.from(text.replaceAll("\\x", ""), "hex") : Buffer.from(text, "latin1");
}

const SECTOR = 512;

/**
 * A file as it may be after the power failed at an instant: what was flushed by then is there, and of what was written since, each sector
 * for which `keeps` says so. Null for a file that was deleted.
 */
export function fileAfterCut(before: Buffer, events: readonly DiskEvent[], at: number, keeps: () => boolean): Buffer | null {
  const begun = events.filter(({ startedAt }) => startedAt <= at);
  const flush = begun.findLast(({ kind, endedAt }) => kind === "sync" && endedAt <= at);
  const file = new FileImage(before, begun);
  for (const event of begun) {
    const flushed = flush !== undefined && event.endedAt <= flush.startedAt;
    if (event.kind === "unlink") file.delete();
    if (event.kind === "truncate") file.truncate(event.length);
    if (event.kind === "write")
      for (let from = 0; from < event.bytes.length; from += SECTOR)
        if (flushed || keeps()) file.write(event.bytes.subarray(from, from + SECTOR), event.offset + from);
  }
  return file.content();
}

/** The bytes of a file, with room for all that events will write. */
class FileImage {
  readonly #bytes: Buffer;
  #length: number;
  #exists = true;

  constructor(before: Buffer, events: readonly DiskEvent[]) {
    const ends = events.map((event) =>
      event.kind === "write" ? event.offset + event.bytes.length : event.kind === "truncate" ? event.length : 0,
    );
    this.#bytes = Buffer.alloc(ends.reduce((longest, end) => Math.max(longest, end), before.length));
    this.#length = before.copy(this.#bytes);
  }

  write(bytes: Buffer, offset: number): void {
    bytes.copy(this.#bytes, offset);
    this.#length = Math.max(this.#length, offset + bytes.length);
    this.#exists = true;
  }

  truncate(length: number): void {
    this.#bytes.fill(0, length, Math.max(length, this.#length));
    this.#length = length;
  }

  delete(): void {
    this.truncate(0);
    this.#exists = false;
  }

  content(): Buffer | null {
    return this.#exists ? this.#bytes.subarray(0, this.#length) : null;
  }
}
