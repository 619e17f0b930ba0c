import { isMailsvcError, type MailsvcError } from "./errors.ts";

/** An answer with what came around it. */
export interface ApiResponse<T> {
  readonly data: T;
  readonly status: number;
  /** Names in lower case; a repeated header is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestId: string | null;
  /** How many times the request was sent. */
  readonly attempts: number;
  /** The Idempotency-Key it carried; null for a read. */
  readonly idempotencyKey: string | null;
  /** The server had already done this and repeated its stored answer. */
  readonly idempotencyReplayed: boolean;
}

/** A result that is looked at instead of caught. */
export type SafeResult<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly error: MailsvcError };

/**
 * The promise of a call that is already under way. Await it for the data, or ask for more of the same one request:
 * `.withResponse()` for status and headers, `.safe()` for a result that never rejects with an error of this package.
 */
export class APIPromise<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = "APIPromise";
  readonly #answer: Promise<ApiResponse<T>>;

  constructor(answer: Promise<ApiResponse<T>>) {
    this.#answer = answer;
  }

  /** The data together with status, headers, request id, attempts and idempotency. */
  withResponse(): Promise<ApiResponse<T>> {
    return this.#answer;
  }

  /** `{ok: true, data}` or `{ok: false, error}`. */
  safe(): Promise<SafeResult<T>> {
    return this.#answer.then(
      ({ data }) => ({ ok: true, data }),
      (error: unknown) => {
        if (!isMailsvcError(error)) throw error;
        return { ok: false, error };
      },
    );
  }

  // biome-ignore lint/suspicious/noThenProperty: a thenable is what this class is.
  then<A = T, B = never>(
    onData?: ((data: T) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#answer.then((answer) => answer.data).then(onData, onError);
  }

  catch<B = never>(onError?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.then().finally(onEnd);
  }
}
