import type { AgentScope, Contract, Endpoint, HandlerInput, HandlerOutput } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { AgentDeps, AgentTx, Deps } from "../deps.ts";
import type { AgentTables } from "../schema.ts";
import type { AgentKey, DeveloperKey } from "./auth.ts";
import type { FileBody } from "./body/upload.ts";
import type { HeaderReader } from "./headers.ts";
import type { check } from "./validation.ts";

/** The context of every handler. */
export interface PublicContext {
  readonly deps: Deps;
  readonly requestId: string;
  /** Validates a value: its parsed form, or the faults in it. For parts of a request that may fail one by one. */
  readonly check: typeof check;
  /** A request header; null when it was not sent. */
  readonly header: (name: string) => string | null;
  /** Aborted when the client disconnects. A function, because few handlers wait. */
  readonly signal: () => AbortSignal;
}

/** The context of a developer's call. */
export interface KeyContext extends PublicContext {
  readonly workspaceId: string;
  readonly key: DeveloperKey;
}

/** A read: sees committed rows. */
export interface ReadContext extends KeyContext {
  readonly read: Reader;
}

/**
 * A write: the handler runs inside one transaction, together with the claim of the Idempotency-Key and the stored answer. It must
 * not await anything but queries.
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
/** The context of an agent's call, for the activation named in the path. */
export interface AgentContext extends Omit<PublicContext, "deps"> {
  readonly deps: AgentDeps;
  /** The brand's workspace. */
  readonly workspaceId: string;
  readonly agent: AgentKey;
}

export interface AgentReadContext extends AgentContext {
  readonly read: Reader<AgentTables>;
}

export interface AgentWriteContext extends AgentContext {
  readonly tx: AgentTx;
}

/** What the handler of a `raw` endpoint gets instead of a parsed body. */
export interface RawBody {
  readonly bytes: Uint8Array;
  readonly headers: HeaderReader;
}

/** What the handler of an upload gets besides its input. */
interface WithFile {
  readonly file: FileBody;
}

type RawOf<E extends Endpoint> = E["raw"] extends true ? RawBody : E["form"] extends true ? WithFile : unknown;

type Run<E extends Endpoint, Ctx> = (input: HandlerInput<E>, ctx: Ctx) => Promise<HandlerOutput<E>>;

/**
 * A write with work that must not happen inside its transaction, such as calling another service: `prepare` runs before the
 * transaction, `run` inside it. `undo` reverts the preparation when `run` fails.
 */
interface Prepared<E extends Endpoint, P, Before, Within> {
  prepare(input: HandlerInput<E>, ctx: Before): Promise<P> | P;
  run(input: HandlerInput<E>, ctx: Within, prepared: P): Promise<HandlerOutput<E>>;
  undo?(ctx: Before, prepared: P): Promise<void>;
}

type Write<E extends Endpoint, Before, Within> =
  | Run<E, Within & RawOf<E>>
  // biome-ignore lint/suspicious/noExplicitAny: only the handler itself knows what `prepare` hands to `run`
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

/** One handler per endpoint of a group; a missing or surplus one does not compile. */
export type Handlers<G extends Contract[string]> = { readonly [O in keyof G]: Handler<G[O]> };
