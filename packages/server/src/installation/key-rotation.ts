import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { formatKeys, type KeyRing, type MasterKeys, parseKeys } from "../lib/master-keys.ts";
import { DAY, HOUR } from "../lib/units.ts";

/** Storage of an installation's master keys: a file next to its database, or the database. */
export interface KeyStore {
  /** The text of all keys; null when the keys are kept elsewhere. */
  read(): Promise<string | null>;
  /** Replaces the text if it still is `before`; false when another process has changed it. */
  replace(before: string, after: string): Promise<boolean>;
}

interface KeyRotationOptions {
  readonly ring: KeyRing;
  /** Null when the keys come from a flag. */
  readonly store: KeyStore | null;
  /** Seals with the current key what older ones have sealed; answers how much that was. */
  readonly sealAnew: () => Promise<number>;
  /** Longest time that other processes may need to learn a key, ms. */
  readonly spreadMs: number;
  readonly real: Clock["real"];
  readonly log: Log;
}

const LOOK_MS = 1000;

/**
 * Carries a rotation of the master key through, in every process. The state is in the text of the keys, which is replaced as a whole, so
 * that a kill at any instant leaves a state from which the next look goes on, here or in another process.
 *
 *   state      | trigger                                      | next
 *   -----------|----------------------------------------------|-----------
 *   current    | a person adds the next key (rotate-key)      | next
 *   next       | all processes know it                        | resealing: it is the current one
 *   resealing  | all processes use it, all is sealed anew     | current, with the old key
 *   current    | a person gives the old keys up, after a day  | forgetting
 *   forgetting | nothing is sealed by them                    | current
 */
export class KeyRotation {
  readonly #options: KeyRotationOptions;
  #timer: Timer | null = null;
  #stopped = true;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: KeyRotationOptions) {
    this.#options = options;
  }

  start(): void {
    const { store, ring } = this.#options;
    this.#stopped = false;
    if (store !== null) this.#schedule(LOOK_MS);
    else if (ring.keys.old.length > 0) this.#schedule(this.#options.spreadMs);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#looking;
  }

  /** Takes what the store holds, and does the next step of a rotation if it is due. */
  async look(): Promise<void> {
    const { store, ring, sealAnew, spreadMs, real, log } = this.#options;
    if (store === null) {
      await sealAnew();
      return;
    }
    const text = await store.read();
    const keys = text === null ? null : parseKeys(text);
    if (text === null || keys === null) return;
    ring.replace(keys);
    const now = real.date();
    if (keys.next !== null && now - keys.next.since >= spreadMs) {
      const old = [{ key: keys.current, since: now }, ...keys.old];
      await this.#replace(text, { ...keys, current: keys.next.key, next: null, resealingSince: now, old });
    } else if (keys.resealingSince !== null && now - keys.resealingSince >= spreadMs) {
      const sealed = await sealAnew();
      if (await this.#replace(text, { ...keys, resealingSince: null })) log.info("the master key was replaced", { sealedAnew: sealed });
    } else if (keys.forgetting && keys.resealingSince === null) {
      await sealAnew();
      if (await this.#replace(text, { ...keys, forgetting: false, old: [] })) log.info("old master keys were given up");
    }
  }

  async #replace(text: string, keys: MasterKeys): Promise<boolean> {
    const { store, ring } = this.#options;
    if (store === null || !(await store.replace(text, formatKeys(keys)))) return false;
    ring.replace(keys);
    return true;
  }

  #schedule(ms: number): void {
    if (this.#stopped) return;
    this.#timer = this.#options.real.after(ms, () => {
      // A database that is away is looked at again.
      this.#looking = this.look()
        .catch((error: unknown) => this.#options.log.warn("the rotation of the master key waits", { error: String(error) }))
        .finally(() => this.#schedule(this.#options.store === null ? HOUR : LOOK_MS));
    });
  }
}

/** Nothing was changed, because it would lose what an old key has sealed, or because there is nothing to do. */
export class RotationRefused extends Error {
  override name = "RotationRefused";
}

/** The text after a rotation was asked for. Throws RotationRefused while another one is under way. */
export function beginRotation(text: string, key: Uint8Array, now: number): string {
  const keys = readIdle(text);
  return formatKeys({ ...keys, next: { key, since: now } });
}

/**
 * Returns the text after the old keys were given up. Throws RotationRefused for keys in use a day ago: stored answers are sealed by them.
 */
export function beginForgetting(text: string, now: number): string {
  const keys = readIdle(text);
  const [latest] = keys.old;
  if (latest === undefined) throw new RotationRefused("There are no old keys.");
  if (now - latest.since < DAY)
    throw new RotationRefused(
      `The key before the current one was in use until ${new Date(latest.since).toISOString()}. Give it up a day later: answers stored for repeated requests are encrypted with it.`,
    );
  return formatKeys({ ...keys, forgetting: true });
}

/** True while a rotation is under way. */
export function isRotating(text: string): boolean {
  const keys = parseKeys(text);
  return keys !== null && (keys.next !== null || keys.resealingSince !== null || keys.forgetting);
}

function readIdle(text: string): MasterKeys {
  const keys = parseKeys(text);
  if (keys === null) throw new RotationRefused("The master key is damaged. Put it back from a backup.");
  if (isRotating(text)) throw new RotationRefused("A rotation is under way. A running server ends it within seconds.");
  return keys;
}
