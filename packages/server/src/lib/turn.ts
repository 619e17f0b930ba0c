import { createHash } from "node:crypto";
import { MB } from "./units.ts";

// Bytes processed at a time: hashing or decoding them takes one to three milliseconds.
export const CHUNK_BYTES = MB;

// Small items, such as the tokens of an HTML mail, that are worked on at a time: a few milliseconds.
const ITEMS_PER_TURN = 8000;

// Bytes copied in one stretch: into new memory a megabyte takes 1 to 2 ms.
const COPIED_PER_TURN = 4 * CHUNK_BYTES;

/** Long works that wait for their turn, in order. */
const waiting: (() => void)[] = [];

/** Waits for the next turn of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

/**
 * Lets the event loop serve others, between chunks of long work. Only one long work goes on in each turn, so that several of them
 * do not make it longer: three mails of 5 MB that were composed side by side made turns of 0.2 s.
 */
export function waitForTurn(): Promise<void> {
  return new Promise((done) => {
    waiting.push(done);
    if (waiting.length === 1) setImmediate(takeTurn);
  });
}

/** Joins bytes like `Buffer.concat`, and lets the event loop serve others in between: 27 MB at once take 15 to 45 ms. */
export async function concatInTurns(chunks: readonly Uint8Array[]): Promise<Buffer<ArrayBuffer>> {
  const all = Buffer.allocUnsafeSlow(chunks.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  let turnEnd = COPIED_PER_TURN;
  for (const chunk of chunks)
    for (let at = 0; at < chunk.length; ) {
      if (end === turnEnd) {
        turnEnd += COPIED_PER_TURN;
        await waitForTurn();
      }
      const piece = chunk.subarray(at, at + turnEnd - end);
      all.set(piece, end);
      at += piece.length;
      end += piece.length;
    }
  return all;
}

/** Does `work` for each of many small items, and lets the event loop serve others after some of them. */
export async function forEachInTurns<T>(items: Iterable<T>, work: (item: T) => void, perTurn = ITEMS_PER_TURN): Promise<void> {
  let done = 0;
  for (const item of items) {
    work(item);
    done += 1;
    if (done % perTurn === 0) await waitForTurn();
  }
}

function takeTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(takeTurn);
}

/** The SHA-256 of a text, hex. It lets the event loop serve others meanwhile. */
export async function hashInTurns(text: string): Promise<string> {
  const hash = createHash("sha256");
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    if (at > 0) await waitForTurn();
    hash.update(bytes.subarray(at, at + CHUNK_BYTES));
  }
  return hash.digest("hex");
}
