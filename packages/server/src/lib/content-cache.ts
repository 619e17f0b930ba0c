// Mails with the same content follow each other, so it is seen again soon or never.
const MAX_UNREPEATED = 16;

interface Entry<T> {
  readonly content: string;
  readonly made: T;
  readonly size: number;
}

/**
 * Keeps what was made of the contents of mails, for the next mail with the same content. Drops what was used least recently.
 *
 * Of contents that no second mail has had, only the last 16 are kept, and in an array. In a campaign each mail has its own. A Map through
 * which all of them pass keeps them from being freed: each table that it outgrows is an old object, and whatever an old object refers
 * to, even a dead one, survives every collection but a full one. That made 40 MB of garbage a second.
 */
export class ContentCache<T> {
  readonly #maxSize: number;
  /** Oldest use first. */
  readonly #repeated = new Map<string, Entry<T>>();
  /** How many of them have a length: no other content needs to be hashed to look it up, which takes 1.4 ns a character. */
  readonly #lengths = new Map<number, number>();
  readonly #unrepeated: (Entry<T> | null)[] = new Array(MAX_UNREPEATED).fill(null);
  #next = 0;
  #size = 0;

  /** Of all contents used repeatedly, the sizes add up to `maxSize` at most. One larger than a sixteenth of it would take the place of too many others. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get(content: string): T | undefined {
    const known = this.#findRepeated(content);
    if (known) {
      this.#repeated.delete(content);
      this.#repeated.set(content, known);
      return known.made;
    }
    const at = this.#unrepeated.findIndex((entry) => entry?.content === content);
    const found = this.#unrepeated[at];
    if (!found) return undefined;
    this.#unrepeated[at] = null;
    this.#keep(found);
    return found.made;
  }

  set(content: string, made: T, size: number): void {
    if (size > this.#maxSize / 16) return;
    this.#drop(content);
    this.#unrepeated[this.#next] = { content, made, size };
    this.#next = (this.#next + 1) % MAX_UNREPEATED;
  }

  clear(): void {
    this.#repeated.clear();
    this.#lengths.clear();
    this.#unrepeated.fill(null);
    this.#size = 0;
  }

  #keep(entry: Entry<T>): void {
    this.#repeated.set(entry.content, entry);
    this.#addLength(entry.content.length, 1);
    this.#size += entry.size;
    for (const oldest of this.#repeated.values()) {
      if (this.#size <= this.#maxSize) break;
      this.#drop(oldest.content);
    }
  }

  #drop(content: string): void {
    const known = this.#findRepeated(content);
    if (!known) return;
    this.#size -= known.size;
    this.#addLength(content.length, -1);
    this.#repeated.delete(content);
  }

  #findRepeated(content: string): Entry<T> | undefined {
    return this.#lengths.has(content.length) ? this.#repeated.get(content) : undefined;
  }

  #addLength(length: number, by: 1 | -1): void {
    const count = (this.#lengths.get(length) ?? 0) + by;
    if (count === 0) this.#lengths.delete(length);
    else this.#lengths.set(length, count);
  }
}
