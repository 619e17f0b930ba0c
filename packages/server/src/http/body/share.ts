import { createByteBudget } from "../../lib/byte-budget.ts";
import { KB, MB } from "../../lib/units.ts";

/** Bodies up to this size take no share: nearly all are smaller, and the memory they take is little. */
export const FREE_BYTES = 64 * KB;

/** Bodies beyond this size are large: a slow client that brings one keeps none of the others waiting. */
export const LARGE_BYTES = MB;

// Bodies of all callers that are being received, the large ones apart from the others.
const MAX_LARGE = 48 * MB;
const MAX_OTHERS = 32 * MB;
// Bodies that are worked on. One takes more than three times its size, as bytes, text, values and what is stored; a second one beside it
// would be done no sooner.
const MAX_AT_WORK = 32 * MB;

/** The share of one request in the memory for bodies. */
export interface BodyShare {
  /**
   * Waits until a body of more than `FREE_BYTES` fits among those being received, in order of arrival. A second call replaces the first.
   */
  receive(bytes: number): Promise<void>;
  /** Waits until such a body, which was received, may be parsed and stored. */
  work(bytes: number): Promise<void>;
  /** Gives the share back, once the request is done. */
  release(): void;
}

/** The memory for the bodies of all requests of this process. A request waits for its share with its body unread. */
export class BodyMemory {
  readonly #large = createByteBudget(MAX_LARGE);
  readonly #others = createByteBudget(MAX_OTHERS);
  readonly #work = createByteBudget(MAX_AT_WORK);

  /** The share of a request, of which it has nothing yet. */
  open(): BodyShare {
    const taken: (() => void)[] = [];
    let isOver = false;
    const keep = (release: () => void): void => {
      if (isOver) release();
      else taken.push(release);
    };
    return {
      receive: async (bytes) => {
        const release = await (bytes > LARGE_BYTES ? this.#large : this.#others).take(bytes);
        for (const earlier of taken.splice(0)) earlier();
        keep(release);
      },
      work: async (bytes) => {
        keep(await this.#work.take(bytes));
      },
      release: () => {
        isOver = true;
        for (const release of taken.splice(0)) release();
      },
    };
  }
}
