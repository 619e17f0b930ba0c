import { AsyncLocalStorage } from "node:async_hooks";
import { systemClock } from "./runtime.ts";

/** Something with a name that is at work, inside of what began it. */
interface Scope {
  readonly path: string;
  readonly parent: Scope | null;
  isOpen: boolean;
  /** Named things inside it that are open: it waits for them. */
  inside: number;
  /** True while it waits for an answer. */
  waits: boolean;
}

// Work that does nothing for so long while a wait is open can only wait.
const QUIET_MS = 50;

/**
 * Work that a run has under way. It is quiet once it waits for an answer, nothing with a name and no call of its client is at work, and nothing
 * new has begun for a moment.
 */
export class Activity {
  readonly #scopes = new AsyncLocalStorage<Scope>();
  readonly #waits = new Set<string>();
  readonly #onStill: (isStill: boolean) => void;
  readonly #onQuiet: (waitsFor: readonly string[]) => void;
  #working = 0;
  #cancel = (): void => {};

  /** `onStill` learns whether only waits are open, `onQuiet` for which answers once nothing has begun for a moment. */
  constructor(onStill: (isStill: boolean) => void, onQuiet: (waitsFor: readonly string[]) => void) {
    this.#onStill = onStill;
    this.#onQuiet = onQuiet;
  }

  /** The steps that the calling code is inside of: empty for the work itself. */
  get path(): string {
    return this.#scopes.getStore()?.path ?? "";
  }

  /** Performs named work, and knows what begins inside it. */
  async inside<T>(label: string, work: () => Promise<T>): Promise<T> {
    const parent = this.#scopes.getStore() ?? null;
    const scope: Scope = { path: `${this.path}${label}>`, parent, isOpen: true, inside: 0, waits: false };
    if (parent) this.#change(parent, () => (parent.inside += 1));
    this.#working += 1;
    this.touch();
    try {
      return await this.#scopes.run(scope, work);
    } finally {
      this.#change(scope, () => (scope.isOpen = false));
      if (parent) this.#change(parent, () => (parent.inside -= 1));
      this.touch();
    }
  }

  /** Performs a call of the client. */
  async call<T>(work: () => Promise<T>): Promise<T> {
    this.#working += 1;
    this.touch();
    try {
      return await work();
    } finally {
      this.#working -= 1;
      this.touch();
    }
  }

  /** Waits for an answer inside of named work. */
  async wait<T>(id: string, work: () => Promise<T>): Promise<T> {
    const scope = this.#scopes.getStore();
    if (scope) this.#change(scope, () => (scope.waits = true));
    this.#waits.add(id);
    this.touch();
    try {
      return await work();
    } finally {
      this.#waits.delete(id);
      if (scope) this.#change(scope, () => (scope.waits = false));
      this.touch();
    }
  }

  /** Something was done: from now on it must be quiet again for a moment. */
  touch(): void {
    const isStill = this.#waits.size > 0 && this.#working === 0;
    this.#onStill(isStill);
    this.#cancel();
    this.#cancel = isStill ? systemClock.after(QUIET_MS, () => this.#onQuiet([...this.#waits])) : (): void => {};
  }

  stop(): void {
    this.#cancel();
    this.#waits.clear();
  }

  #change(scope: Scope, change: () => void): void {
    const before = isWorking(scope);
    change();
    this.#working += Number(isWorking(scope)) - Number(before);
  }
}

function isWorking({ isOpen, inside, waits }: Scope): boolean {
  return isOpen && inside === 0 && !waits;
}
