import type { Endpoint, ErrorCode } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { HttpDeps } from "./deps.ts";
import type { AgentContext, KeyContext, PublicContext } from "./handler.ts";
import type { HeaderList } from "./headers.ts";
import type { RequestInFlight } from "./in-flight.ts";
import type { HttpRequest } from "./request.ts";

export type Input = Record<string, unknown>;
export type RunAny = (input: Input, ctx: object, prepared?: unknown) => Promise<unknown>;
/** Writes whose calls may share a transaction: see `Handlers`. */
export interface GroupedHandler {
  readonly prepare: RunAny;
  readonly check: RunAny;
  readonly measure: (input: Input, prepared: unknown) => number;
  readonly store: (checked: readonly unknown[], ctx: object) => Promise<readonly unknown[]>;
}
export type AnyHandler =
  | RunAny
  | GroupedHandler
  | { prepare: RunAny; run: RunAny; undo?: (ctx: object, prepared: unknown) => Promise<void> };

/** A request to an endpoint, on its way to the handler. */
export interface Call {
  readonly request: HttpRequest;
  readonly endpoint: Endpoint;
  readonly handler: AnyHandler;
  readonly base: PublicContext<HttpDeps>;
  /** Headers of the response, added to on the way; also those of an error. */
  readonly headers: HeaderList;
  /** Tells the size of its body once that has come. */
  readonly received: RequestInFlight["received"];
  /** The id of the key, once it is known: for the access log. */
  keyId?: string;
  /** The workspace of the caller, once it is known. */
  workspaceId?: string;
  /** The code of the error that is answered. */
  error?: ErrorCode;
}

/** An admitted caller: the owner of rate limits and Idempotency-Keys, and the context of its handlers. */
export interface Caller {
  readonly id: string;
  readonly context: KeyContext<HttpDeps> | AgentContext<HttpDeps> | PublicContext<HttpDeps>;
  /** Runs when the body of a write has arrived, which may have taken long; throws when the key has been revoked meanwhile. */
  readonly recheck?: () => Promise<unknown>;
  /** A signal that aborts when the key is revoked, for a connection that stays open; the key is watched until `until` aborts. */
  readonly watch?: (until: AbortSignal) => AbortSignal;
  /** Runs first inside the transaction of a write; throws when the caller's key no longer works. */
  readonly confirm?: (tx: Tx) => Promise<unknown>;
  /** The largest body, in bytes. */
  readonly maxBody: number;
  /** The context of its handlers, once the input has told in which workspace the call acts. Throws ApiError forbidden, validation_error. */
  readonly settle?: (input: Input) => Promise<KeyContext<HttpDeps>>;
  /** Limits that depend on the input. Throws ApiError rate_limited. */
  readonly limit?: (input: Input) => Promise<void>;
}
