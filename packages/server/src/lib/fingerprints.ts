/**
 * A set that stores 32 bits of each text, in 8 to 16 bytes. A text that was added is always found; with a million texts, about one of
 * four thousand others is found by mistake.
 */
export class Fingerprints {
  #slots = new Uint32Array(1024);
  #size = 0;

  add(text: string): void {
    if (this.#size * 2 >= this.#slots.length) this.#grow();
    if (this.#put(fingerprint(text))) this.#size += 1;
  }

  /** False only for a text that was never added. */
  mayHave(text: string): boolean {
    const print = fingerprint(text);
    const mask = this.#slots.length - 1;
    for (let at = print & mask; ; at = (at + 1) & mask) {
      const found = this.#slots[at];
      if (found === print) return true;
      if (found === 0) return false;
    }
  }

  #put(print: number): boolean {
    const mask = this.#slots.length - 1;
    let at = print & mask;
    while (this.#slots[at] !== 0) {
      if (this.#slots[at] === print) return false;
      at = (at + 1) & mask;
    }
    this.#slots[at] = print;
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (const print of old) if (print !== 0) this.#put(print);
  }
}

/** 32 bits of a text (FNV-1a over its UTF-16 units), never 0. */
function fingerprint(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  // The low bits choose the slot, and FNV mixes those least.
  return (hash ^ (hash >>> 15)) >>> 0 || 1;
}
