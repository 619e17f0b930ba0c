import { createReadStream, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { cancelledError, usageError } from "../runtime/errors.ts";
import type { Session } from "../types.ts";

/** The bytes of an import, and how many of them have been read. */
export interface Source {
  /** The name shown in messages. */
  readonly name: string;
  /** Null for a pipe. */
  readonly path: string | null;
  /** Size in bytes; null for a pipe. */
  readonly size: number | null;
  bytes(): AsyncIterable<Uint8Array>;
  /** Bytes read so far. */
  consumed(): number;
}

const CHUNK = 64 * 1024;

/** Opens a file, or stdin for `-`. Throws CliError when it cannot be read. */
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
      // Ctrl-C closes stdin, because a pipe may never send anything again. That is not a read error.
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
  const size = findFileSize(path, given);
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
    ? "no such file"
    : code === "EACCES"
      ? "permission denied"
      : code === "EISDIR"
        ? "it is a directory"
        : String(code);
}

function findFileSize(path: string, given: string): number | null {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    // The size of a named pipe or /dev/stdin is unknown.
    return stat.isFile() ? stat.size : null;
  } catch (error) {
    throw usageError(`${given}: ${describeReadError(error)}.`);
  }
}
