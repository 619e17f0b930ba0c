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
 * Compares what the page shows with what is stored, for objects without a revision of their own. If a colleague has changed it, `reload` shows
 * the change. Throws RequestError then.
 */
export function assertCurrent(shown: unknown, current: unknown, reload: () => void): void {
  if (JSON.stringify(shown) !== JSON.stringify(current)) refuse(reload);
}

function refuse(reload: () => void): never {
  reload();
  throw new RequestError({
    code: "conflict",
    message: "Somebody changed it after you opened this page.",
    hint: "This page shows the change now: look at it, and start it then.",
  });
}
