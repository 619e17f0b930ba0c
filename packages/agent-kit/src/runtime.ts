/** The clock of this machine, ms since 1970. The only place that reads it. */
export function currentTime(): number {
  return Date.now();
}
