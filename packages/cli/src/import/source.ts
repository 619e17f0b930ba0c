import { createReadStream, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { cancelledError, usageError } from "../runtime/errors.ts";
import type { Session } from "../types.ts";

/** Bytes to be read once, and how far that has come. */
export interface Source {
  /** As it stands in messages. */
  readonly name: string;
  /** Null for a pipe. */
  readonly path: string | null;
  /** In bytes; null for a pipe. */
  readonly size: number | null;
  bytes(): AsyncIterable<Uint8Array>;
  /** Bytes read so far. */
  consumed(): number;
}

const CHUNK = 64 * 1024;

/** A file, or stdin for `-`. Throws CliError when it cannot be read. */
export function openSource(session: Session, given: string): Source {
  const { host, signal } = session;
  let consumed = 0;
  async function* counted(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
    consumed = 0;
    try {
      for await (const chunk of stream) {
        const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
        consumed += bytes.length;
        yield bytes;
      }
    } catch (error) {
      // A pipe may be silent for ever, so Ctrl-C closes it; that is no fault of the pipe.
      if (signal.aborted) throw cancelledError();
      throw usageError(`${given}: ${describeReadError(error)}.`);
    }
  }
  if (given === "-") {
    if (host.stdin.isTTY === true)
      throw usageError("Nothing is piped into stdin.", { hint: "Write: … | mailsvc contacts import -   or name a file." });
    const close = (): void => void host.stdin.destroy();
    signal.addEventListener("abort", close, { once: true });
    return { name: "stdin", path: null, size: null, bytes: () => counted(host.stdin), consumed: () => consumed };
  }
  const path = resolve(host.cwd, given);
  const size = getFileSize(path, given);
  return {
    name: basename(given),
    path: size === null ? null : path,
    size,
    bytes: () => counted(createReadStream(path, { highWaterMark: CHUNK })),
    consumed: () => consumed,
  };
}

function describeReadError(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOENT"
    ? "there is no such file"
    : code === "EACCES"
      ? "it may not be read"
      : code === "EISDIR"
        ? "it is a directory"
        : String(code);
}

function getFileSize(path: string, given: string): number | null {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    // A named pipe, /dev/stdin: there is no telling how much comes.
    return stat.isFile() ? stat.size : null;
  } catch (error) {
    throw usageError(`${given}: ${describeReadError(error)}.`);
  }
}
