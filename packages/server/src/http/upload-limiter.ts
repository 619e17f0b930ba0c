import { ApiError } from "../lib/api-error.ts";

// Uploads of one caller that are in memory at a time: each takes several times the size of its file.
const CONCURRENT = 4;

interface Slots {
  running: number;
  readonly waiting: (() => void)[];
}

/** Lets each caller run four uploads at a time. Further uploads wait, their bodies unread. */
export class UploadLimiter {
  readonly #caller: string;
  readonly #maxWaiting: number;
  /** By caller; callers without uploads have no entry. */
  readonly #slots = new Map<string, Slots>();

  /** `caller` is the word for a caller in messages; `maxWaiting` is how many uploads of one caller may wait. */
  constructor(caller: string, maxWaiting: number) {
    this.#caller = caller;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs an upload once a slot is free. Throws ApiError rate_limited when too many wait, validation_error when the client
   * disconnects while it waits.
   */
  async run<T>(callerId: string, disconnected: AbortSignal, upload: () => Promise<T>): Promise<T> {
    const slots = this.#slots.get(callerId) ?? { running: 0, waiting: [] };
    this.#slots.set(callerId, slots);
    if (slots.running < CONCURRENT) slots.running += 1;
    else if (slots.waiting.length < this.#maxWaiting) await waitForSlot(slots, disconnected);
    else
      throw new ApiError(
        "rate_limited",
        `Too many uploads. This ${this.#caller} has ${CONCURRENT} uploads running and ${this.#maxWaiting} waiting.`,
        { headers: { "retry-after": "1" }, hint: `Upload ${CONCURRENT} files at a time.` },
      );
    try {
      return await upload();
    } finally {
      // The slot passes to the next in line, or is freed.
      const next = slots.waiting.shift();
      if (next) next();
      else slots.running -= 1;
      if (slots.running === 0) this.#slots.delete(callerId);
    }
  }
}

/** Resolves when a slot passes to this upload. An aborted waiter leaves the line. */
function waitForSlot({ waiting }: Slots, disconnected: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new ApiError("validation_error", "The client disconnected while its upload was waiting."));
    if (disconnected.aborted) {
      fail();
      return;
    }
    const proceed = (): void => {
      disconnected.removeEventListener("abort", leave);
      resolve();
    };
    const leave = (): void => {
      waiting.splice(waiting.indexOf(proceed), 1);
      fail();
    };
    waiting.push(proceed);
    disconnected.addEventListener("abort", leave, { once: true });
  });
}
