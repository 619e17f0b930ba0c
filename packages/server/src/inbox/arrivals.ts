import { addressKey, INBOX_LIMITS } from "@mailsvc/sdk/contract";
import { and, desc, eq } from "drizzle-orm";
import type { Db } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import { OF_TEST_KEYS } from "./tables.ts";

// Another process may have captured mail: look this often (real time).
const POLL_MS = 1000;
// Mails to read in one look: those that usually come between two looks, and earlier ones, as a mail may be committed after a newer one.
const LOOKED_AT = 100;

/** A captured mail, as far as it tells who waits for it. */
interface Arrival {
  readonly workspaceId: string | null;
  /** The recipient, as it is stored. */
  readonly to: string;
}

/** Mail that a request waits for. */
interface Wanted {
  /** Mail of its test keys; null for all captured mail, in dev mode. */
  readonly workspaceId: string | null;
  readonly to?: string | undefined;
}

interface Waiter {
  /** The recipient of the mail that it waits for; null for any. */
  readonly to: string | null;
  readonly wake: () => void;
}

/** A place where mail arrives: the inbox of a workspace's test keys, or that of dev mode. */
interface Place {
  readonly waiters: Set<Waiter>;
  /** Requests that wait, also while they read. */
  open: number;
  /** The newest mails at the last look; null before the first one. */
  seen: ReadonlySet<string> | null;
  poll: Timer | null;
}

/**
 * The requests that wait for captured mail, by workspace. A commit of this process wakes those who may want its mail; for that of other
 * processes all who wait in a workspace share one look a second.
 */
export class Arrivals {
  readonly #deps: () => { readonly db: Db; readonly clock: Clock };
  readonly #places = new Map<string | null, Place>();

  constructor(deps: () => { readonly db: Db; readonly clock: Clock }) {
    this.#deps = deps;
  }

  /** Counts a request until the returned function is called. Throws ApiError rate_limited when too many of a workspace wait here. */
  open(workspaceId: string | null): () => void {
    const place = this.#find(workspaceId);
    const { waits } = INBOX_LIMITS;
    if (workspaceId !== null && place.open >= waits)
      throw new ApiError("rate_limited", `${waits} requests of this workspace wait for test mail already.`, {
        headers: { "retry-after": "5" },
        hint: `Let one end first. A workspace may wait with ${waits} requests at a time, on each server.`,
      });
    place.open += 1;
    if (place.open === 1) this.#plan(workspaceId, place);
    return () => {
      place.open -= 1;
      if (place.open > 0) return;
      place.poll?.cancel();
      this.#places.delete(workspaceId);
    };
  }

  /** Settles when mail that may be wanted arrives, after `ms` of real time, or when `signal` aborts. */
  wait({ workspaceId, to }: Wanted, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const { waiters } = this.#find(workspaceId);
      const wake = (): void => {
        waiters.delete(waiter);
        timer.cancel();
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const waiter: Waiter = { to: to === undefined ? null : addressKey(to), wake };
      const timer = this.#deps().clock.real.after(ms, wake);
      waiters.add(waiter);
      signal.addEventListener("abort", wake);
      if (signal.aborted) wake();
    });
  }

  /** This process has captured mail. */
  notify(mails: readonly Arrival[]): void {
    for (const [workspaceId, place] of this.#places)
      this.#wake(
        place,
        mails.filter((mail) => workspaceId === null || mail.workspaceId === workspaceId),
      );
  }

  #wake({ waiters }: Place, mails: readonly Arrival[]): void {
    if (mails.length === 0) return;
    const recipients = new Set(mails.map(({ to }) => to));
    for (const { to, wake } of [...waiters]) if (to === null || recipients.has(to)) wake();
  }

  #plan(workspaceId: string | null, place: Place): void {
    place.poll = this.#deps().clock.real.after(POLL_MS, () => {
      const { poll } = place;
      void this.#look(workspaceId, place).finally(() => {
        if (place.open > 0 && place.poll === poll) this.#plan(workspaceId, place);
      });
    });
  }

  async #look(workspaceId: string | null, place: Place): Promise<void> {
    try {
      const newest = await this.#listNewest(workspaceId);
      const { seen } = place;
      place.seen = new Set(newest.map(({ id }) => id));
      const fresh = seen === null ? newest : newest.filter(({ id }) => !seen.has(id));
      // More may have come than was looked at.
      if (fresh.length === LOOKED_AT) wakeAll(place);
      else this.#wake(place, fresh);
    } catch {
      // Waiting requests learn of the error when they read.
      wakeAll(place);
    }
  }

  #listNewest(workspaceId: string | null): Promise<(Arrival & { readonly id: string })[]> {
    const { read } = this.#deps().db;
    const { inbox } = read.t;
    return read
      .select({ id: inbox.id, workspaceId: inbox.workspaceId, to: inbox.to })
      .from(inbox)
      .where(workspaceId === null ? undefined : and(OF_TEST_KEYS, eq(inbox.workspaceId, workspaceId)))
      .orderBy(desc(inbox.id))
      .limit(LOOKED_AT);
  }

  #find(workspaceId: string | null): Place {
    const found = this.#places.get(workspaceId);
    if (found) return found;
    const made: Place = { waiters: new Set(), open: 0, seen: null, poll: null };
    this.#places.set(workspaceId, made);
    return made;
  }
}

function wakeAll({ waiters }: Place): void {
  for (const { wake } of [...waiters]) wake();
}
