import { isMailsvcError, type MailsvcError } from "./errors.ts";

/** The data of a response together with its status, headers and request metadata. */
export interface ApiResponse<T> {
  readonly data: T;
  readonly status: number;
  /** Header names are in lower case; repeated headers are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as bytes. Not enumerable, so logs show the data only. */
  readonly bytes: Uint8Array;
  readonly requestId: string | null;
  /** Number of times the request was sent. */
  readonly attempts: number;
  /** The Idempotency-Key that was sent; null for a read. */
  readonly idempotencyKey: string | null;
  /** True when the server had already handled this key and returned the stored response. */
  readonly idempotencyReplayed: boolean;
}

/** The outcome of a call as a value, for callers who prefer checking to catching. */
export type SafeResult<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly error: MailsvcError };

/**
 * The promise of a call. The request starts at once and is sent once. Await the promise for the data, or call
 * `.withResponse()` for status and headers, or `.safe()` for a result that never rejects with a MailsvcError.
 */
export class APIPromise<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = "APIPromise";
  readonly #response: Promise<ApiResponse<T>>;

  constructor(response: Promise<ApiResponse<T>>) {
    this.#response = response;
  }

  /** The data together with status, headers, request id, attempts and idempotency. */
  withResponse(): Promise<ApiResponse<T>> {
    return this.#response;
  }

  /** The response as a standard `Response`, its body not yet parsed. Rejects like the call itself for a status other than 2xx. */
  async asResponse(): Promise<Response> {
    const { status, headers, bytes } = await this.#response;
    return new Response(status === 204 ? null : (bytes as Uint8Array<ArrayBuffer>), { status, headers });
  }

  /** `{ok: true, data}` or `{ok: false, error}`. */
  safe(): Promise<SafeResult<T>> {
    return this.#response.then(
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
    return this.#response.then((response) => response.data).then(onData, onError);
  }

  catch<B = never>(onError?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.then().finally(onEnd);
  }
}
