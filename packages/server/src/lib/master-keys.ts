const BYTES = 32;

/**
 * The master keys of an installation, as its key file or its database holds them: the current one encrypts and signs, all of them open and
 * verify. A rotation goes from `next`, which all processes learn first, to `current`; then what the old one encrypted is encrypted again.
 */
export interface MasterKeys {
  readonly current: Uint8Array;
  /** The key that becomes the current one, and since when it is known, ms. */
  readonly next: DatedKey | null;
  /** Start of encrypting old data with the current key, ms; null once all of it is. */
  readonly resealingSince: number | null;
  /** True while the old keys are being given up. */
  readonly forgetting: boolean;
  /** Keys before the current one, the latest first, and when each was replaced, ms. */
  readonly old: readonly DatedKey[];
}

interface DatedKey {
  readonly key: Uint8Array;
  readonly since: number;
}

/** Keys that are neither being rotated nor have been. */
export function singleKey(current: Uint8Array): MasterKeys {
  return { current, next: null, resealingSince: null, forgetting: false, old: [] };
}

/** Parses a key of 32 bytes in base64 or hex; null when it is neither. */
export function parseKey(text: string): Uint8Array | null {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, "hex");
  const bytes = Buffer.from(trimmed, "base64");
  return bytes.length === BYTES && /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed) ? bytes : null;
}

/** Reads a key alone, or the lines that `formatKeys` writes; null for anything else. */
export function parseKeys(text: string): MasterKeys | null {
  const [first = "", ...lines] = text.trim().split("\n");
  const current = parseKey(first);
  if (current === null) return null;
  let keys = singleKey(current);
  for (const line of lines) {
    const [word, instant = "", rest = ""] = line.trim().split(" ");
    const since = Date.parse(instant);
    const key = parseKey(rest);
    if (word !== "forgetting" && Number.isNaN(since)) return null;
    if (word === "forgetting") keys = { ...keys, forgetting: true };
    else if (word === "resealing") keys = { ...keys, resealingSince: since };
    else if (key === null) return null;
    else if (word === "next") keys = { ...keys, next: { key, since } };
    else if (word === "old") keys = { ...keys, old: [...keys.old, { key, since }] };
    else return null;
  }
  return keys;
}

/** The text of a key file. */
export function formatKeys({ current, next, resealingSince, forgetting, old }: MasterKeys): string {
  const date = (ms: number): string => new Date(ms).toISOString();
  const dated = (word: string, { key, since }: DatedKey): string => `${word} ${date(since)} ${toBase64(key)}`;
  const lines = [
    toBase64(current),
    ...(next ? [dated("next", next)] : []),
    ...(resealingSince === null ? [] : [`resealing ${date(resealingSince)}`]),
    ...(forgetting ? ["forgetting"] : []),
    ...old.map((one) => dated("old", one)),
  ];
  return `${lines.join("\n")}\n`;
}

/** All keys that open and verify: the current one first. */
export function listKeys({ current, next, old }: MasterKeys): Uint8Array[] {
  return [current, ...(next ? [next.key] : []), ...old.map(({ key }) => key)];
}

/** The keys at hand, which change while the server runs. Seal and signatures look here for each use. */
export class KeyRing {
  #keys: MasterKeys;
  #all: readonly Uint8Array[];

  constructor(keys: MasterKeys) {
    this.#keys = keys;
    this.#all = listKeys(keys);
  }

  get keys(): MasterKeys {
    return this.#keys;
  }

  /** The current key first. */
  get all(): readonly Uint8Array[] {
    return this.#all;
  }

  replace(keys: MasterKeys): void {
    if (formatKeys(keys) === formatKeys(this.#keys)) return;
    // Keys that stay are the same objects: what was derived from them is found by that.
    const known = new Map(this.#all.map((key) => [toBase64(key), key]));
    this.#keys = keys;
    this.#all = listKeys(keys).map((key) => known.get(toBase64(key)) ?? key);
  }
}

function toBase64(key: Uint8Array): string {
  return Buffer.from(key).toString("base64");
}
