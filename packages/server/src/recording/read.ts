import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { MB } from "../lib/units.ts";
import { Line, type LineOf, RECORDING_VERSION } from "./lines.ts";

/** A recording that cannot be read. The message says why. */
export class RecordingError extends Error {
  override name = "RecordingError";
}

/** A recording as it was read. */
export interface Recording {
  readonly lines: readonly Line[];
  /** Lines that could not be read; they are left out. */
  readonly damaged: number;
}

// Twice what is ever written. A small file can claim to hold far more.
const MAX_BYTES = 128 * MB;

const CHUNK_BYTES = MB;

/**
 * Reads a recording. A damaged end, as left by a full disk, is skipped. Throws RecordingError for a file that is no recording or
 * one of a later version, and the system's error for a file that cannot be opened.
 */
export async function readRecording(file: string): Promise<Recording> {
  const { text, broken } = await unpack(file);
  const lines: Line[] = [];
  let damaged = broken ? 1 : 0;
  for (const [i, one] of text.split("\n").entries()) {
    if (one === "") continue;
    const parsed = Line.safeParse(parseJson(one));
    if (i === 0) assertHead(parsed.success ? parsed.data : parseJson(one));
    if (parsed.success) lines.push(parsed.data);
    else damaged += 1;
  }
  if (lines.length === 0) throw new RecordingError("This file is not a recording of mailsvc dev.");
  return { lines, damaged };
}

/** The lines of one kind. */
export function linesOf<Kind extends Line["kind"]>({ lines }: Recording, kind: Kind): LineOf<Kind>[] {
  return lines.filter((line): line is LineOf<Kind> => line.kind === kind);
}

async function unpack(file: string): Promise<{ text: string; broken: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    await pipeline(createReadStream(file), createGunzip({ chunkSize: CHUNK_BYTES }), async (source: AsyncIterable<Buffer>) => {
      for await (const chunk of source) {
        size += chunk.length;
        if (size > MAX_BYTES) throw new RecordingError(`This file holds more than ${MAX_BYTES / 1024 / 1024} MB, which no recording does.`);
        chunks.push(chunk);
      }
    });
  } catch (error) {
    if (error instanceof RecordingError || !isDamage(error)) throw error;
    if (size === 0) throw new RecordingError("This file is not a recording of mailsvc dev: it is not compressed with gzip.");
    return { text: Buffer.concat(chunks).toString(), broken: true };
  }
  return { text: Buffer.concat(chunks).toString(), broken: false };
}

/** Zlib's errors, also of a file that ends too early. */
function isDamage(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^Z_/.test(String(error.code));
}

function assertHead(head: unknown): void {
  if (typeof head !== "object" || head === null || !("kind" in head) || head.kind !== "recording")
    throw new RecordingError("This file is not a recording of mailsvc dev.");
  const version = "version" in head ? head.version : undefined;
  if (typeof version === "number" && version > RECORDING_VERSION)
    throw new RecordingError(
      `This recording has version ${version} of the format; this program reads version ${RECORDING_VERSION}. Use a later one.`,
    );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
