// Bytes processed at a time: hashing or decoding them takes one to three milliseconds.
export const CHUNK_BYTES = 1024 * 1024;

// Small items, such as the tokens of an HTML mail, that are worked on at a time: some milliseconds.
const ITEMS_PER_TURN = 8000;

/** Lets the event loop serve others, between chunks of long work. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

/** Does `work` for each of many small items, and lets the event loop serve others after some of them. */
export async function forEachInTurns<T>(items: Iterable<T>, work: (item: T) => void, perTurn = ITEMS_PER_TURN): Promise<void> {
  let done = 0;
  for (const item of items) {
    work(item);
    done += 1;
    if (done % perTurn === 0) await yieldToEventLoop();
  }
}
