import { type ErrorCode, REQUEST_LIMITS } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import { type Clock, iso } from "../lib/clock.ts";
import { KeyedSignal } from "../lib/keyed-signal.ts";

/** An answered request. */
export interface AnsweredRequest {
  readonly requestId: string;
  readonly method: string;
  readonly pathname: string;
  readonly route: string | null;
  readonly status: number;
  readonly error: ErrorCode | null;
  /** Real time until the answer, ms. */
  readonly ms: number;
  /** The workspace of its key; null for a request without a key that works. */
  readonly workspaceId: string | null;
  readonly keyId: string | null;
  /** Both ends of a key that is none of this server; null otherwise. */
  readonly keyPreview: string | null;
}

/** A request that is kept. */
export interface KeptRequest extends Omit<AnsweredRequest, "pathname"> {
  readonly sequence: number;
  readonly at: string;
  readonly path: string;
}

const ANY = "";

/** Requests that connections follow. */
export interface FollowedRequests {
  /** Counts a connection that follows, until the returned function is called. Throws ApiError rate_limited. */
  open(): () => void;
  /** Begins after a number that the connection has seen, or with the next request. */
  begin(read: Reader, seen: number | null): Promise<RequestFollower>;
}

/** One connection's way through the requests. */
export interface RequestFollower {
  /** The number of the latest request that was given. */
  readonly last: number;
  /** The requests that came since the last call, oldest first. */
  next(): Promise<readonly KeptRequest[]>;
  /** Settles when there may be another request, after `ms` of real time, or when `signal` aborts. Begins to wait at once. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Counts the connections that follow requests. */
export class FollowerCount {
  #count = 0;

  /** Throws ApiError rate_limited. */
  open(): () => void {
    if (this.#count >= REQUEST_LIMITS.followers)
      throw new ApiError("rate_limited", `${this.#count} connections follow requests already.`, {
        headers: { "retry-after": "10" },
        hint: "Close one first.",
      });
    this.#count += 1;
    return () => {
      this.#count -= 1;
    };
  }
}

/** The latest requests of all workspaces, in memory. */
export class RequestLog implements FollowedRequests {
  readonly #clock: Clock;
  readonly #signal: KeyedSignal;
  #kept: KeptRequest[] = [];
  #last = 0;
  readonly #followers = new FollowerCount();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#signal = new KeyedSignal(clock.real);
  }

  note({ pathname, ...request }: AnsweredRequest): void {
    this.#last += 1;
    const path = toSafePath(pathname, request.route);
    this.#kept.push({ ...request, path, ms: Math.round(request.ms * 10) / 10, sequence: this.#last, at: iso(this.#clock.now()) });
    if (this.#kept.length > REQUEST_LIMITS.kept) this.#kept.shift();
    this.#signal.wake([ANY]);
  }

  /** The requests after a number, oldest first. */
  listAfter(sequence: number): readonly KeptRequest[] {
    return this.#kept.filter((request) => request.sequence > sequence);
  }

  open(): () => void {
    return this.#followers.open();
  }

  async begin(_read: Reader, seen: number | null): Promise<RequestFollower> {
    let last = seen === null ? this.#last : Math.min(seen, this.#last);
    return {
      get last() {
        return last;
      },
      next: async () => {
        const found = this.listAfter(last);
        last = found.at(-1)?.sequence ?? last;
        return found;
      },
      wait: (ms, signal) => this.#signal.wait(ANY, ms, signal),
    };
  }

  /** Forgets all requests. Their numbers go on. */
  clear(): void {
    this.#kept = [];
  }
}

const MAX_PATH = 500;
// Ids of contacts are left out: they would outlive the erasure of a person.
const ID = /^(?!con_)[a-z]{2,5}_[0-9a-z]{1,40}$/;
// A word of a path. What has other digits than a version may be a number of a phone or a token.
const WORD = /^(?:[a-z_][a-z_.-]{0,24}|v\d{1,2})$/i;

/**
 * A path that names nobody and opens nothing. Ids of this service stay; addresses, names, tokens and other values in the place of a
 * parameter become that parameter, and `*` where there is none.
 */
export function toSafePath(pathname: string, route: string | null): string {
  const own = pathname.slice(0, MAX_PATH).split("/");
  const its = route?.split("/") ?? [];
  const fits = own.length === its.length && its.every((segment, i) => segment.startsWith(":") || segment === own[i]);
  return own
    .map((segment, i) => {
      const named = fits ? (its[i] as string) : "*";
      if (fits && !named.startsWith(":")) return segment;
      if (segment === "" || ID.test(segment) || (!fits && WORD.test(segment))) return segment;
      return named;
    })
    .join("/");
}
