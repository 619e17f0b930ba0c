import type { Endpoint } from "@mailsvc/sdk/contract";
import type { ApiError } from "../lib/api-error.ts";
import type { KeyLookup } from "./auth.ts";
import type { AnyHandler } from "./call.ts";
import type { HeaderReader } from "./headers.ts";

/** The answer of a dialect, before it becomes a response. */
export interface DialectAnswer {
  readonly status: number;
  /** Null for a response without a body. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An operation of a dialect with its handler. */
export interface DialectOperation {
  readonly endpoint: Endpoint;
  readonly handler: AnyHandler;
  /** Makes of the handler's output what the clients of the dialect expect; without it, the output is the body. */
  readonly reshape?: (output: unknown) => DialectAnswer;
}

/** The API of another service, which is served next to the contract so that programs written for that service need no change. */
export interface Dialect {
  readonly prefix: `/${string}`;
  readonly operations: readonly DialectOperation[];
  /** Looks up the keys of its requests. */
  readonly lookUpKeys: (keys: KeyLookup) => KeyLookup;
  /** An error as that service words it; `headers` are those of the request. */
  readonly describeError: (error: ApiError, headers: HeaderReader) => DialectAnswer;
}

/** Dialects by their prefixes, each loaded with its first request. */
export type DialectLoaders = ReadonlyMap<Dialect["prefix"], () => Promise<Dialect>>;
