import type { AgentScope, Contract, Endpoint, HandlerInput, HandlerOutput } from "@mailsvc/sdk/contract";
import type { Reader, Schema, Tx } from "../db/db.ts";
import type { AgentKey, DeveloperKey } from "./auth.ts";
import type { FileBody } from "./body/upload.ts";
import type { HeaderReader } from "./headers.ts";
import type { check } from "./validation.ts";

/** The context of every handler. `Deps` are the dependencies of its module. */
export interface PublicContext<Deps> {
  readonly deps: Deps;
  readonly requestId: string;
  /** Validates a value: its parsed form, or the faults in it. For parts of a request that may fail one by one. */
  readonly check: typeof check;
  /** A request header; null when it was not sent. */
  readonly header: (name: string) => string | null;
  /** Aborted when the client disconnects; of a stream, also when its key is revoked. A function, because few handlers wait. */
  readonly signal: () => AbortSignal;
}

/** The context of a call without a key. */
export interface OpenContext<Deps> extends PublicContext<Deps> {
  /** True if the request has a key of the operator, who may see details of the server. Throws ApiError for a key that does not work. */
  readonly isOperator: () => Promise<boolean>;
}

/** The context of a developer's call. */
export interface KeyContext<Deps> extends PublicContext<Deps> {
  readonly workspaceId: string;
  readonly key: DeveloperKey;
  /** True if the caller is the operator, who may see the details of the server: see `OperatorRights`. */
  readonly isOperator: () => Promise<boolean>;
  /** Mail to suppressed addresses alone is accepted, and ends as `suppressed`: the services behind dialects do so. */
  readonly acceptsSuppressed?: boolean;
  /** For each mail of a send, the keys of recipients who opted out of its topic. They get nothing. */
  readonly optedOut?: readonly ReadonlySet<string>[] | undefined;
}

/** A read: sees committed rows. */
export interface ReadContext<Deps> extends KeyContext<Deps> {
  readonly read: Reader;
}

/**
 * A write: the handler runs inside one transaction, together with the claim of the Idempotency-Key and the stored answer. It must
 * not await anything but queries.
 */
interface WriteContext<Deps> extends KeyContext<Deps> {
  readonly tx: Tx;
}

/** A read with the operator key, which belongs to no workspace. */
interface OperatorReadContext<Deps> extends PublicContext<Deps> {
  readonly read: Reader;
}

/** A write with the operator key. */
interface OperatorWriteContext<Deps> extends PublicContext<Deps> {
  readonly tx: Tx;
}

/** The context of an agent's call, for the activation named in the path. */
export interface AgentContext<Deps> extends PublicContext<Deps> {
  /** The brand's workspace. */
  readonly workspaceId: string;
  readonly agent: AgentKey;
}

/** An agent's read, of the `Tables` that agents may query. */
export interface AgentReadContext<Deps, Tables> extends AgentContext<Deps> {
  readonly read: Reader<Tables>;
}

/** An agent's write. */
export interface AgentWriteContext<Deps, Tables> extends AgentContext<Deps> {
  readonly tx: Tx<Tables>;
}

/** Input of the handler of a `raw` endpoint instead of a parsed body. */
interface RawBody {
  readonly bytes: Uint8Array;
  readonly headers: HeaderReader;
}

/** Additional input of the handler of an upload. */
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
  readonly prepare: (input: HandlerInput<E>, ctx: Before) => Promise<P> | P;
  readonly run: (input: HandlerInput<E>, ctx: Within, prepared: P) => Promise<HandlerOutput<E>>;
  readonly undo?: (ctx: Before, prepared: P) => Promise<void>;
}

/**
 * A write whose calls may share a transaction: `check` reads what only the database knows of one call and throws if it is refused, `store`
 * stores those of all that passed, with the same statements, and answers in their order.
 */
interface Grouped<E extends Endpoint, P, Checked, Before, Within> {
  readonly prepare: (input: HandlerInput<E>, ctx: Before) => Promise<P> | P;
  readonly check: (input: HandlerInput<E>, ctx: Within, prepared: P) => Promise<Checked>;
  /** The size of a call, in bytes: large ones share no transaction. */
  readonly measure: (input: HandlerInput<E>, prepared: P) => number;
  readonly store: (checked: readonly Checked[], ctx: Pick<Within, Extract<"tx" | "deps", keyof Within>>) => Promise<HandlerOutput<E>[]>;
}

type Write<E extends Endpoint, Before, Within> =
  | Run<E, Within & RawOf<E>>
  // biome-ignore lint/suspicious/noExplicitAny: only the handler itself knows what `prepare` and `check` hand on
  | Grouped<E, any, any, Before & RawOf<E>, Within & RawOf<E>>
  // biome-ignore lint/suspicious/noExplicitAny: only the handler itself knows what `prepare` hands to `run`
  | Prepared<E, any, Before & RawOf<E>, Within & RawOf<E>>;

type Handler<E extends Endpoint, Deps, Tables = Schema> = E["access"] extends "public" | "dev"
  ? Run<E, OpenContext<Deps> & RawOf<E>>
  : E["access"] extends "agent" | { readonly scope: AgentScope }
    ? E["method"] extends "GET"
      ? Run<E, AgentReadContext<Deps, Tables>>
      : Write<E, AgentReadContext<Deps, Tables>, AgentWriteContext<Deps, Tables>>
    : E["access"] extends "operator"
      ? E["method"] extends "GET"
        ? Run<E, OperatorReadContext<Deps>>
        : Write<E, OperatorReadContext<Deps>, OperatorWriteContext<Deps>>
      : E["method"] extends "GET"
        ? Run<E, ReadContext<Deps>>
        : Write<E, ReadContext<Deps>, WriteContext<Deps>>;

/**
 * One handler per endpoint of a group; a missing or surplus one does not compile. `Deps` are the dependencies of the
 * module, `Tables` the tables that handlers for agents may query.
 */
export type Handlers<G extends Contract[string], Deps, Tables = Schema> = {
  readonly [O in keyof G]: Handler<G[O], Deps, Tables>;
};
