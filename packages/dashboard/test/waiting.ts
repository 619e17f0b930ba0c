// Asking without a pause would take the processor from what is waited for.
const PAUSE_MS = 50;

/** Waits until something is so, asking again and again. */
export async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((next) => setTimeout(next, PAUSE_MS));
}
