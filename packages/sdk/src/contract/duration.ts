/** The text of a Duration. */
export const DURATION = /^(?:\d{1,9}(?:ms|s|m|h|d))+$/;

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a Duration text. */
export function durationMs(text: string): number {
  return [...text.matchAll(/(\d+)(ms|s|m|h|d)/g)].reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit as keyof typeof UNITS], 0);
}
