/**
 * Longest time (real ms) that data read about a person may wait before it goes out: an email for its mail server, an event for
 * its receiver. Older data is read again, because the person may have been erased or have unsubscribed meanwhile. A request takes
 * effect within a second of its answer (docs/campaigns.md); the rest of that second is for reading and composing.
 */
export const MAX_AGE_MS = 500;
