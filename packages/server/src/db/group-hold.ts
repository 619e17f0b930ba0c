interface GroupHoldOptions {
  /** Callers in one group, at most: a full group is sent. */
  readonly maxSize: number;
  /** Longest time that a group is held back, ms; 10 when absent. */
  readonly maxMs?: number | undefined;
}

// A commit with its flush, and a statement with its answer, take 0.1 to 0.3 ms of the processor for one caller or a hundred. Waiting
// for others pays only where many come: fewer callers than this are never held back.
const MIN_SIZE = 8;

/**
 * Decides how long a group of callers waits for further ones before it is sent, asked at the end of each turn of the event loop. It
 * measures by how much the group grew in that turn.
 *
 * | group at the end of a turn                       | decision |
 * | ------------------------------------------------ | -------- |
 * | fewer than 8 callers                             | send     |
 * | as many callers as one group may have            | send     |
 * | no more callers than at the end of the last turn | send     |
 * | its first caller has waited for `maxMs`          | send     |
 * | otherwise: it grew                               | wait     |
 * | `short`, unless `maxMs` are over                 | wait     |
 */
export class GroupHold {
  readonly #maxSize: number;
  readonly #maxMs: number;
  /** Number of callers that waited at the end of the last turn. */
  #lastSize = 0;

  constructor({ maxSize, maxMs = 10 }: GroupHoldOptions) {
    this.#maxSize = maxSize;
    this.#maxMs = maxMs;
  }

  /**
   * True when the group is to wait for one more turn. `size` callers wait, the first of them for `waitedMs`. `short` asks to keep turns
   * short, whatever the size of the group.
   */
  waits(size: number, waitedMs: number, { short = false } = {}): boolean {
    const grew = size > this.#lastSize && size >= MIN_SIZE && size < this.#maxSize;
    this.#lastSize = size;
    return (grew || short) && waitedMs < this.#maxMs;
  }

  /** Call this when a group was taken, with the number of callers that are left for the next one. */
  taken(left: number): void {
    this.#lastSize = left;
  }
}
