import type { Contract, Endpoint, HandlerInput, HandlerOutput } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import type { KeyInfo } from "../keys/ring.ts";

/** What every handler gets. */
export interface PublicContext {
  readonly deps: Deps;
  readonly requestId: string;
  /** Aborted when the caller has gone. Made when first asked for: few handlers wait. */
  readonly signal: () => AbortSignal;
}

/** A caller with a key. */
export interface KeyContext extends PublicContext {
  readonly workspaceId: string;
  readonly key: KeyInfo;
}

/** A read: committed rows. */
export interface ReadContext extends KeyContext {
  readonly read: Reader;
}

/**
 * A write: the handler runs inside one transaction, together with the claim of the Idempotency-Key and the stored
 * answer. It awaits queries only.
 */
export interface WriteContext extends KeyContext {
  readonly tx: Tx;
}

type Run<E extends Endpoint, Ctx> = (input: HandlerInput<E>, ctx: Ctx) => Promise<HandlerOutput<E>>;

/** A write that must ask the outside world first: `prepare` runs before the transaction, `run` inside it. */
interface Prepared<E extends Endpoint, P> {
  prepare(input: HandlerInput<E>, ctx: ReadContext): Promise<P> | P;
  run(input: HandlerInput<E>, ctx: WriteContext, prepared: P): Promise<HandlerOutput<E>>;
}

export type Handler<E extends Endpoint> = E["access"] extends "public" | "dev"
  ? Run<E, PublicContext>
  : E["method"] extends "GET"
    ? Run<E, ReadContext>
    : // biome-ignore lint/suspicious/noExplicitAny: what `prepare` hands to `run` is the handler's own affair
      Run<E, WriteContext> | Prepared<E, any>;

/** One handler for each endpoint of a group; a missing or surplus one does not compile. */
export type Handlers<G extends Contract[string]> = { readonly [O in keyof G]: Handler<G[O]> };
