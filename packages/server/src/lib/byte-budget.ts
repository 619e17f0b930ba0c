/** Bounds the memory of work that runs at the same time. */
interface ByteBudget {
  /**
   * Waits until `bytes` fit into the budget, first come first served, and takes them. More than
   * the whole budget fits when nothing else is taken. Call the result once the memory is free again; calling it twice is harmless.
   */
  take(bytes: number): Promise<() => void>;
}

export function createByteBudget(limit: number): ByteBudget {
  const waiting: { bytes: number; grant: (release: () => void) => void }[] = [];
  let taken = 0;
  const fits = (bytes: number): boolean => taken === 0 || taken + bytes <= limit;
  const grant = (bytes: number): (() => void) => {
    taken += bytes;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      taken -= bytes;
      for (let next = waiting[0]; next && fits(next.bytes); next = waiting[0]) {
        waiting.shift();
        next.grant(grant(next.bytes));
      }
    };
  };
  return {
    take: async (bytes) =>
      waiting.length === 0 && fits(bytes) ? grant(bytes) : new Promise((resolve) => waiting.push({ bytes, grant: resolve })),
  };
}
