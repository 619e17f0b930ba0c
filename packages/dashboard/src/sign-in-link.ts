import { signal } from "@preact/signals";

/** Means to sign in that an address of the dashboard has: a link to use at once, one that came by mail, or why a provider's sign-in failed. */
interface Arrival {
  readonly token: string | null;
  readonly mailed: string | null;
  readonly problem: string | null;
}

const NOTHING: Arrival = { token: null, mailed: null, problem: null };

/** Means of this visit. */
export const arrival = signal<Arrival>(takeArrival() ?? NOTHING);

/** Forgets what led here, once it is used or the person wants something else. */
export function forgetArrival(): void {
  arrival.value = NOTHING;
}

/** Takes what a link brings that is opened while the page is open already. Returns how to stop that. */
export function followLink(): () => void {
  const look = (): void => {
    arrival.value = takeArrival() ?? arrival.peek();
  };
  window.addEventListener("hashchange", look);
  return () => window.removeEventListener("hashchange", look);
}

/** Takes a token out of the address, so that it stays neither in the history nor on the screen. */
function takeArrival(): Arrival | null {
  const text = location.hash.slice(1);
  if (text === "") return null;
  history.replaceState(null, "", location.pathname + location.search);
  const [, name, value] = /^(mail|problem)=(.*)$/.exec(text) ?? [];
  if (name === "mail") return { ...NOTHING, mailed: value ?? null };
  return name === "problem" ? { ...NOTHING, problem: value ?? null } : { ...NOTHING, token: text };
}
