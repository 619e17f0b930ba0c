// Bytes processed at a time: hashing or decoding them takes one to three milliseconds.
export const CHUNK_BYTES = 1024 * 1024;

/** Lets the event loop serve others, between chunks of long work. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
