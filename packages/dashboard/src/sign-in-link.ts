import { signal } from "@preact/signals";

/** The token of the link that led here; null without one. */
export const linkToken = signal(takeToken());

/** Takes the token of a link that is opened while the page is open already. Returns how to stop that. */
export function followLink(): () => void {
  const look = (): void => {
    linkToken.value = takeToken() ?? linkToken.peek();
  };
  window.addEventListener("hashchange", look);
  return () => window.removeEventListener("hashchange", look);
}

/** Takes the token out of the address, so that it stays neither in the history nor on the screen. */
function takeToken(): string | null {
  const token = location.hash.slice(1);
  if (token !== "") history.replaceState(null, "", location.pathname + location.search);
  return token === "" ? null : token;
}
