// Bytes that are worked on at a time: one to three milliseconds of whatever is done to them.
export const CHUNK_BYTES = 1024 * 1024;

/** Lets everybody else of this process have a turn: between pieces of work that is long in all. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
