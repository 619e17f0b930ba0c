import type { AgentScope, Contract, Endpoint, HandlerInput, HandlerOutput } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { AgentDeps, AgentTx, Deps } from "../deps.ts";
import type { KeyInfo } from "../keys/key-cache.ts";
import type { AgentKey } from "../marketplace/activations/agent-keys.ts";
import type { AgentTables } from "../schema.ts";
import type { FileBody } from "./body/upload.ts";
import type { check } from "./validation.ts";

/** What every handler gets. */
export interface PublicContext {
  readonly deps: Deps;
  readonly requestId: string;
  /** A value by its schema, or what is wrong with it: for parts of a request that fail one by one. */
  readonly check: typeof check;
  /** A header of the request; null for one that was not sent. */
  readonly header: (name: string) => string | null;
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

/** A read with the operator key, which belongs to no workspace. */
export interface OperatorReadContext extends PublicContext {
  readonly read: Reader;
}

/** A write with the operator key. */
export interface OperatorWriteContext extends PublicContext {
  readonly tx: Tx;
}

/** A caller with the key of an activation, which is the one named in the path. */
export interface AgentContext extends Omit<PublicContext, "deps"> {
  readonly deps: AgentDeps;
  /** The brand's. */
  readonly workspaceId: string;
  readonly agent: AgentKey;
}

export interface AgentReadContext extends AgentContext {
  readonly read: Reader<AgentTables>;
}

export interface AgentWriteContext extends AgentContext {
  readonly tx: AgentTx;
}

/** What the handler of a `raw` endpoint gets in place of a parsed body. */
export interface RawBody {
  readonly bytes: Uint8Array;
  readonly headers: { get(name: string): string | null };
}

/** What the handler of an upload gets beside its input: the file. */
interface WithFile {
  readonly file: FileBody;
}

type RawOf<E extends Endpoint> = E["raw"] extends true ? RawBody : E["form"] extends true ? WithFile : unknown;

type Run<E extends Endpoint, Ctx> = (input: HandlerInput<E>, ctx: Ctx) => Promise<HandlerOutput<E>>;

/**
 * A write with work that does not belong into its transaction, such as asking the outside world: `prepare` runs before it, `run`
 * inside it. `undo` takes back what was prepared when `run` came to nothing.
 */
interface Prepared<E extends Endpoint, P, Before, Within> {
  prepare(input: HandlerInput<E>, ctx: Before): Promise<P> | P;
  run(input: HandlerInput<E>, ctx: Within, prepared: P): Promise<HandlerOutput<E>>;
  undo?(ctx: Before, prepared: P): Promise<void>;
}

type Write<E extends Endpoint, Before, Within> =
  | Run<E, Within & RawOf<E>>
  // biome-ignore lint/suspicious/noExplicitAny: what `prepare` hands to `run` is the handler's own affair
  | Prepared<E, any, Before & RawOf<E>, Within & RawOf<E>>;

export type Handler<E extends Endpoint> = E["access"] extends "public" | "dev"
  ? Run<E, PublicContext & RawOf<E>>
  : E["access"] extends "agent" | { readonly scope: AgentScope }
    ? E["method"] extends "GET"
      ? Run<E, AgentReadContext>
      : Write<E, AgentReadContext, AgentWriteContext>
    : E["access"] extends "operator"
      ? E["method"] extends "GET"
        ? Run<E, OperatorReadContext>
        : Write<E, OperatorReadContext, OperatorWriteContext>
      : E["method"] extends "GET"
        ? Run<E, ReadContext>
        : Write<E, ReadContext, WriteContext>;

/** One handler for each endpoint of a group; a missing or surplus one does not compile. */
export type Handlers<G extends Contract[string]> = { readonly [O in keyof G]: Handler<G[O]> };
