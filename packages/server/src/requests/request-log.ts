import { type ErrorCode, REQUEST_LIMITS } from "@mailsvc/sdk/contract";
import { ApiError } from "../lib/api-error.ts";
import { type Clock, iso } from "../lib/clock.ts";
import { KeyedSignal } from "../lib/keyed-signal.ts";
import { toSafePath } from "./safe-path.ts";

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

/** The latest requests of all workspaces, in memory. */
export class RequestLog {
  readonly #clock: Clock;
  readonly #signal: KeyedSignal;
  #kept: KeptRequest[] = [];
  #last = 0;
  #followers = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#signal = new KeyedSignal(clock.real);
  }

  /** The number of the latest request. */
  get last(): number {
    return this.#last;
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

  /** Settles when there may be another request, after `ms` of real time, or when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void> {
    return this.#signal.wait(ANY, ms, signal);
  }

  /** Counts a connection that follows, until the returned function is called. Throws ApiError rate_limited. */
  open(): () => void {
    if (this.#followers >= REQUEST_LIMITS.followers)
      throw new ApiError("rate_limited", `${this.#followers} connections follow requests already.`, {
        headers: { "retry-after": "10" },
        hint: "Close one first.",
      });
    this.#followers += 1;
    return () => {
      this.#followers -= 1;
    };
  }

  /** Forgets all requests. Their numbers go on. */
  clear(): void {
    this.#kept = [];
  }
}
