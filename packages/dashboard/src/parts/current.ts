import { isOutdated, RequestError } from "../api/request-error.ts";

/**
 * Starts what the page shows, by a call that names its revision. If a colleague has changed it meanwhile, nothing is started, and `reload`
 * shows the change. Throws RequestError.
 */
export async function startShown(start: () => Promise<unknown>, reload: () => void): Promise<void> {
  try {
    await start();
  } catch (cause) {
    if (!isOutdated(cause)) throw cause;
    refuse(reload);
  }
}

/**
 * Makes sure that what somebody is about to start is what the page shows, for what has no revision of its own. What a colleague has changed
 * meanwhile is shown instead, by `reload`. Throws RequestError.
 */
export function assertCurrent(shown: unknown, current: unknown, reload: () => void): void {
  if (JSON.stringify(shown) !== JSON.stringify(current)) refuse(reload);
}

function refuse(reload: () => void): never {
  reload();
  throw new RequestError({
    code: "conflict",
    message: "Somebody has changed it meanwhile.",
    hint: "This page shows the change now: look at it, and start it then.",
  });
}
