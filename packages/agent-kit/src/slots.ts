import { AgentStoppedError } from "./errors.ts";

/** Limits of the work done at the same time in this process. */
export interface Concurrency {
  /** Events in all. Default: no limit. */
  total?: number;
  /** Events of one activation. Default: no limit. */
  perActivation?: number;
}

interface Waiting {
  readonly activationId: string;
  readonly enter: () => void;
  readonly refuse: (reason: Error) => void;
}

/** Limits the events worked on at the same time. Events beyond the limits wait in the order they came. */
export class Slots {
  readonly #limits: Required<Concurrency>;
  readonly #used = new Map<string, number>();
  #total = 0;
  #waiting: Waiting[] = [];
  #closed = false;

  constructor({ total = Number.POSITIVE_INFINITY, perActivation = Number.POSITIVE_INFINITY }: Concurrency) {
    this.#limits = { total, perActivation };
  }

  /** Performs work in a slot. Throws AgentStoppedError if none came free before `close`. */
  async use<T>(activationId: string, work: () => Promise<T>): Promise<T> {
    await this.#enter(activationId);
    try {
      return await work();
    } finally {
      this.#leave(activationId);
    }
  }

  /** Refuses all that wait, now and later. */
  close(): void {
    this.#closed = true;
    for (const { refuse } of this.#waiting.splice(0)) refuse(new AgentStoppedError());
  }

  async #enter(activationId: string): Promise<void> {
    if (this.#closed) throw new AgentStoppedError();
    if (this.#isFree(activationId)) return this.#count(activationId, 1);
    await new Promise<void>((enter, refuse) => {
      this.#waiting.push({ activationId, enter, refuse });
    });
  }

  #leave(activationId: string): void {
    this.#count(activationId, -1);
    for (const one of [...this.#waiting]) {
      if (!this.#isFree(one.activationId)) continue;
      this.#waiting = this.#waiting.filter((other) => other !== one);
      this.#count(one.activationId, 1);
      one.enter();
    }
  }

  #isFree(activationId: string): boolean {
    return this.#total < this.#limits.total && (this.#used.get(activationId) ?? 0) < this.#limits.perActivation;
  }

  #count(activationId: string, by: 1 | -1): void {
    this.#total += by;
    const used = (this.#used.get(activationId) ?? 0) + by;
    if (used === 0) this.#used.delete(activationId);
    else this.#used.set(activationId, used);
  }
}
