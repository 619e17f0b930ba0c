import { RequestError } from "../api/request-error.ts";

/**
 * Makes sure that what somebody is about to start is what the page shows. What a colleague has changed meanwhile is shown instead, by `reload`.
 * Throws RequestError.
 */
export function assertCurrent(shown: unknown, current: unknown, reload: () => void): void {
  if (JSON.stringify(shown) === JSON.stringify(current)) return;
  reload();
  throw new RequestError({
    code: "conflict",
    message: "Somebody has changed it meanwhile.",
    hint: "This page shows the change now: look at it, and start it then.",
  });
}
