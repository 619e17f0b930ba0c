import { randomFillSync } from "node:crypto";

/** The source of randomness. */
export interface Random {
  /** `n` random bytes. */
  bytes(n: number): Uint8Array;
  /** A number in [0, 1). */
  fraction(): number;
}

// randomFillSync costs a microsecond for any size, so random bytes are drawn in blocks.
const BLOCK = 4096;

/** Unpredictable randomness, for the ids, keys and tokens of a real server. */
export function secureRandom(): Random {
  let block = new Uint8Array(0);
  let at = 0;
  const bytes = (n: number): Uint8Array => {
    if (n > BLOCK) return randomFillSync(new Uint8Array(n));
    if (at + n > block.length) {
      block = randomFillSync(new Uint8Array(BLOCK));
      at = 0;
    }
    at += n;
    // Copied, and wiped from the block: a key must not remain there.
    const out = block.slice(at - n, at);
    block.fill(0, at - n, at);
    return out;
  };
  return { bytes, fraction: () => new DataView(bytes(4).buffer).getUint32(0) / 2 ** 32 };
}

/** The same sequence for the same seed (sfc32), for tests and worlds. Never for real secrets. */
export function seededRandom(seed: number): Random {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let d = 1;
  const next = (): number => {
    const t = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    c |= 0;
    return t >>> 0;
  };
  for (let i = 0; i < 15; i += 1) next();
  return {
    bytes: (n) => Uint8Array.from({ length: n }, () => next() & 0xff),
    fraction: () => next() / 2 ** 32,
  };
}
