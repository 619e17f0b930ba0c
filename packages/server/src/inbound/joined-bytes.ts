/**
 * Stands for Blob on the thread that reads mail. postal-mime puts the lines of each text into one and asks for its bytes once; that of Node
 * takes 20 µs for a line, and this 0.1.
 */
export class JoinedBytes {
  readonly #parts: readonly Uint8Array[];

  constructor(parts: readonly (Uint8Array | ArrayBuffer | string)[] = []) {
    this.#parts = parts.map((part) => {
      if (typeof part === "string") return Buffer.from(part);
      return part instanceof Uint8Array ? part : new Uint8Array(part);
    });
  }

  /** All bytes, in their order. */
  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(this.#parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes.buffer;
  }
}
