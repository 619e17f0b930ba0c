/**
 * How long (real ms) what was read of a person may wait before it goes out: an email for its mail server, an event for its receiver. What
 * waits longer is read again, because the person may have been erased or have unsubscribed meanwhile. What people ask for is promised to
 * hold a second after the answer (docs/campaigns.md): the rest of that second is for reading and composing.
 */
export const MAX_AGE_MS = 500;
