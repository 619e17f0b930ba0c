import { concatInTurns } from "../lib/turn.ts";

/** A message as far as it is kept, and its whole size. Without bytes: there was no memory for it. */
interface TakenMessage {
  readonly bytes: Uint8Array<ArrayBuffer> | null;
  readonly size: number;
  /** Gives the memory back. */
  release(): void;
}

// smtp-server gives a message whose lines begin with dots in pieces of a line: each would take more memory than its bytes. Small pieces are
// joined, this many at a time.
const SMALL_BYTES = 1024;
const JOINED = 256;

/**
 * Takes messages off their connections into memory, within a limit for all of them together: a hundred connections could bring
 * 2.5 GB. Bytes of a message beyond the limits are read and dropped.
 */
export class Intake {
  readonly #limit: number;
  #taken = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async take(stream: AsyncIterable<Uint8Array>, keep: number): Promise<TakenMessage> {
    let chunks: Uint8Array[] = [];
    let small: Uint8Array[] = [];
    let size = 0;
    let held = 0;
    let refused = false;
    const release = (): void => {
      this.#taken -= held;
      held = 0;
      chunks = [];
      small = [];
    };
    const joinSmall = (): void => {
      if (small.length > 0) chunks.push(Buffer.concat(small));
      small = [];
    };
    try {
      for await (const chunk of stream) {
        const kept = refused ? chunk.subarray(0, 0) : chunk.subarray(0, Math.max(0, keep - size));
        size += chunk.length;
        if (kept.length === 0) continue;
        if (this.#taken + kept.length > this.#limit) {
          refused = true;
          release();
          continue;
        }
        this.#taken += kept.length;
        held += kept.length;
        if (kept.length >= SMALL_BYTES || small.length === JOINED) joinSmall();
        (kept.length < SMALL_BYTES ? small : chunks).push(kept);
      }
      joinSmall();
      return { bytes: refused ? null : ((await concatInTurns(chunks)) as Uint8Array<ArrayBuffer>), size, release };
    } catch (error) {
      release();
      throw error;
    }
  }
}
