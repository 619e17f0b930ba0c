import type { Agent } from "../src/agent.ts";
import type { Store } from "../src/stores/store.ts";

/** A process that dies at a given moment: before or after one of its calls of the store or the service takes effect. */
export class Mortal {
  #left: number;
  #isDead = false;
  readonly #death = Promise.withResolvers<void>();

  /** `left`: how many calls it lives for; half a call more means that its last call takes effect, and nobody learns of it. */
  constructor(left: number) {
    this.#left = left;
  }

  /** The agent of this process, whose requests end without a proper response when it dies. */
  agent(agent: Agent): Agent {
    const dead = this.#death.promise.then(() => ({ status: 502, headers: {}, body: "{}" }));
    const handle: Agent["handle"] = (...args) => Promise.race([agent.handle(...args), dead]);
    return Object.assign(Object.create(agent) as Agent, { handle, stop: async () => {} });
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Performs a call. The calls of a dead process never end. */
  async #live<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isDead) return new Promise<never>(() => {});
    this.#left -= 1;
    if (this.#left > 0) return call();
    this.#isDead = true;
    if (this.#left > -1) await call().catch(() => {});
    this.#death.resolve();
    return new Promise<never>(() => {});
  }

  store(inner: Store): Store {
    const { now } = inner;
    return {
      get: (key) => this.#live(() => inner.get(key)),
      swap: (...args) => this.#live(() => inner.swap(...args)),
      list: (prefix) => this.#live(() => inner.list(prefix)),
      ...(now && { now: () => (this.#isDead ? new Promise<never>(() => {}) : now.call(inner)) }),
    };
  }

  fetch(inner: typeof fetch): typeof fetch {
    return (input, init) => this.#live(() => inner(input, init));
  }
}
