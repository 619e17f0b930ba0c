import { createByteBudget } from "../../lib/byte-budget.ts";
import { MB } from "../../lib/units.ts";

/** Bodies up to this size take no share: they are many, and the memory they take is little. */
export const FREE_BYTES = MB;

// Bodies of all callers that are worked on at a time. One takes more than three times its size, as bytes, text, values and what is stored.
const MAX_BYTES = 64 * MB;

/** The share of one request in the memory for large bodies. */
export interface BodyShare {
  /** Waits until a body of this size fits, first come first served. */
  take(bytes: number): Promise<void>;
  /** Gives the share back, once the request is done. */
  release(): void;
}

/** The memory for large bodies of all requests of this process. A request waits for its share with its body unread. */
export class BodyMemory {
  readonly #budget = createByteBudget(MAX_BYTES);

  /** The share of a request, of which it has nothing yet. */
  open(): BodyShare {
    let giveBack: (() => void) | null = null;
    let isOver = false;
    return {
      take: async (bytes) => {
        const release = await this.#budget.take(bytes);
        if (isOver) release();
        else giveBack = release;
      },
      release: () => {
        isOver = true;
        giveBack?.();
      },
    };
  }
}
