import type { Endpoint, Params } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { Reader, Tx } from "../db/db.ts";
import type { FileBody } from "../http/body/upload.ts";
import type { AnyHandler, Input, RunAny } from "../http/call.ts";
import type { AnswerOf, CallOf, PreparedCall } from "../http/contract-calls.ts";
import type { DialectAnswer, DialectOperation } from "../http/dialect.ts";
import type { KeyContext } from "../http/handler.ts";
import { ApiError } from "../lib/api-error.ts";
import type { DialectDeps } from "./deps.ts";
import type { Calls } from "./rename-fields.ts";

/** Extent of support for an operation: all of it, or the part that its note describes. */
type Grade = "full" | "part";

/** Tools for handlers in every stage of a request. */
export interface Reads {
  readonly deps: DialectDeps;
  readonly workspaceId: string;
  /** True for a test key, whose mail is captured. */
  readonly test: boolean;
  /** Addresses and domains that the key may send from; null for all. */
  readonly senders: readonly string[] | null;
  /** Access for functions of modules that no endpoint has; only `read` and `write` check permissions. */
  readonly rows: Reader | Tx;
  /** A request header; null when it was not sent. */
  header(name: string): string | null;
  /** Validates a part of a request that may fail without the rest. */
  readonly check: KeyContext<unknown>["check"];
  read<E extends Endpoint>(endpoint: E, input: CallOf<E>): Promise<AnswerOf<E>>;
  /** Throws ApiError forbidden unless the key may call this endpoint; for what no endpoint of the contract does. */
  authorize(endpoint: Endpoint): void;
}

/** Before the transaction, where files may be fetched. */
export interface Preparation extends Reads {
  /** The file of an operation that takes a form; empty when the request has none. */
  readonly file: FileBody | null;
  prepare<E extends Endpoint>(endpoint: E, input: CallOf<E>): Promise<PreparedCall<E>>;
}

/** Inside the transaction. */
export interface Writes extends Reads {
  readonly tx: WriteContext["tx"];
  write<E extends Endpoint>(endpoint: E, input: CallOf<E>): Promise<AnswerOf<E>>;
  finish<E extends Endpoint>(prepared: PreparedCall<E>, options?: FinishOptions<E>): Promise<AnswerOf<E>>;
}

/** What only the transaction knows of a call that was prepared. */
interface FinishOptions<E extends Endpoint> {
  /** Mail is that of a test key: captured instead of sent. */
  readonly test?: boolean;
  /** For each mail, the keys of recipients who opted out of its topic. */
  readonly optedOut?: readonly ReadonlySet<string>[];
  /** Fields of the input besides those that were prepared. */
  readonly also?: Partial<CallOf<E>>;
}

type WriteContext = Parameters<PreparedCall<Endpoint>>[0];
type ReadContext = Parameters<Calls["prepare"]>[2];

type Parsed<S> = S extends z.ZodType ? z.output<S> : unknown;

/** Fields that operations declare besides their handlers. */
interface Declared<P extends `/${string}`, Q, B> {
  /** Below the prefix of the dialect. */
  readonly path: P;
  /** Known gaps. No note: fully supported. */
  readonly note?: string;
  readonly query?: Q;
  readonly body?: B;
  /** The field of `body` that the whole body is: an array. */
  readonly bodyIs?: string;
  /** The body is a form, with a file in the field `file`. */
  readonly form?: true;
  readonly status?: 200 | 201;
  readonly bucket?: "send";
  /** The answer contains a secret that is shown once. */
  readonly confidential?: true;
  readonly reshape?: (output: unknown) => DialectAnswer;
}

/** A read of a dialect. */
interface ReadData<P extends `/${string}`, Q, B> extends Declared<P, Q, B> {
  readonly run: (input: Params<P> & Parsed<Q>, calls: Reads) => Promise<unknown>;
}

/** A write of a dialect, in one transaction. */
interface WriteData<P extends `/${string}`, Q, B, Ready> extends Declared<P, Q, B> {
  readonly method: Exclude<AnyMethod, "GET">;
  /** Runs before the transaction. */
  readonly prepare?: (input: Params<P> & Parsed<B>, calls: Preparation) => Promise<Ready>;
  readonly run: (input: Params<P> & Parsed<B>, calls: Writes, ready: Ready) => Promise<unknown>;
}

/** A method of HTTP. The contract knows no PUT. */
type AnyMethod = Endpoint["method"] | "PUT";

/** An operation as data: what the index of its dialect lists, and how it becomes a route. */
export interface Operation {
  readonly method: AnyMethod;
  readonly path: `/${string}`;
  readonly grade: Grade;
  readonly note: string | null;
  /** Makes the route below a prefix. */
  build(prefix: string, deps: DialectDeps, contract: Calls, ids: IdForms | null): DialectOperation;
}

/** An operation that only the other service has. */
export interface AbsentOperation extends Pick<Operation, "path"> {
  readonly method: AnyMethod;
  /** A sentence that names the way to do it here, or says why there is none. */
  readonly instead: string;
}

/** The form in which a dialect writes ids, where it is not ours. */
export interface IdForms {
  /** The input of an operation, with our ids in its parameters and cursors. */
  readonly read: (path: Operation["path"], input: Readonly<Input>) => Input;
  /** An output with ids as the dialect writes them. */
  readonly show: (output: unknown) => unknown;
}

/** Declares a read. */
export function readOperation<const P extends `/${string}`, Q extends z.ZodObject | undefined = undefined>(
  data: ReadData<P, Q, undefined>,
): Operation {
  return declare("GET", data, (deps, contract) => (input, context) => {
    const reading = context as ReadContext;
    // The router has parsed the input by the schemas of the operation.
    return data.run(input as Params<P> & Parsed<Q>, makeReads(deps, contract, reading));
  });
}

/** Declares a write. */
export function writeOperation<const P extends `/${string}`, B extends z.ZodObject | undefined = undefined, Ready = undefined>(
  data: WriteData<P, undefined, B, Ready>,
): Operation {
  type Wanted = Params<P> & Parsed<B>;
  return declare(data.method, data, (deps, contract) => ({
    prepare: async (input, context) => {
      const reading = context as ReadContext;
      const prepare: Preparation["prepare"] = (endpoint, call) => contract.prepare(endpoint, call, reading);
      const file = (context as { readonly file?: FileBody }).file ?? null;
      return data.prepare?.(input as Wanted, { ...makeReads(deps, contract, reading), prepare, file });
    },
    run: (input, context, ready) => {
      const writing = context as WriteContext;
      const calls: Writes = {
        ...makeReads(deps, contract, writing),
        tx: writing.tx,
        write: (endpoint, call) => contract.write(endpoint, call, writing),
        finish: (prepared, { test, optedOut, also } = {}) =>
          prepared({ ...writing, acceptsSuppressed: true, optedOut, ...(test && { key: { ...writing.key, test } }) }, also),
      };
      return data.run(input as Wanted, calls, ready as Ready);
    },
  }));
}

/** All routes of a dialect: an index that everyone may read, its operations, and those that only the other service has. */
export function buildRoutes(
  prefix: Endpoint["path"],
  operations: readonly Operation[],
  absent: readonly AbsentOperation[],
  deps: DialectDeps,
  contract: Calls,
  ids: IdForms | null = null,
): DialectOperation[] {
  const index = { operations: operations.map(describeOperation), absent };
  return [
    { endpoint: { method: "GET", path: prefix, access: "public", summary: "", output: z.unknown() }, handler: async () => index },
    ...operations.map((operation) => operation.build(prefix, deps, contract, ids)),
    ...absent.map((operation) => refuseAbsent(prefix, operation)),
  ];
}

/** An operation as an index and the documentation list it. */
function describeOperation({ method, path, grade, note }: Operation) {
  return { method, path, grade, ...(note !== null && { note }) };
}

/** The route of an operation that only the other service has: it answers 501, and says how to do it here. */
function refuseAbsent(prefix: string, { method, path, instead }: AbsentOperation): DialectOperation {
  return {
    endpoint: {
      method: method as Endpoint["method"],
      path: `${prefix}${path}` as Endpoint["path"],
      access: "public",
      summary: "",
      output: z.never(),
    },
    handler: async (input: unknown) => {
      // As the program wrote it: a pattern such as /inboxes/:id is in no documentation of the other service.
      const asked = path.replace(/:(\w+)/g, (pattern, name: string) =>
        encodeURIComponent((input as Record<string, string>)[name] ?? pattern),
      );
      throw new ApiError("not_implemented", `${method} ${asked} is not here.`, { hint: `${instead} GET ${prefix} lists what is here.` });
    },
  };
}

function declare<P extends `/${string}`>(
  method: AnyMethod,
  data: Declared<P, z.ZodObject | undefined, z.ZodObject | undefined>,
  makeHandler: (deps: DialectDeps, contract: Calls) => AnyHandler,
): Operation {
  const { path, note = null, query, body, bodyIs, form, status, bucket, confidential, reshape } = data;
  return {
    method,
    path,
    note,
    grade: note === null ? "full" : "part",
    build: (prefix, deps, contract, ids) => ({
      endpoint: {
        method: method as Endpoint["method"],
        path: `${prefix}${path}` as Endpoint["path"],
        access: "key",
        summary: "",
        output: z.unknown(),
        // Each call of the contract refuses test keys where it must.
        testKeys: true,
        ...(query && { query }),
        ignoresUnknown: true,
        ...(body && { body }),
        ...(bodyIs && { bodyIs }),
        ...(form && { form }),
        ...(status && { status }),
        ...(bucket && { bucket }),
        ...(confidential && { confidential }),
      },
      handler: ids === null ? makeHandler(deps, contract) : withIds(makeHandler(deps, contract), path, ids),
      ...(reshape && { reshape }),
    }),
  };
}

/** A handler whose input and output have ids in the form of the dialect. */
function withIds(handler: AnyHandler, path: Operation["path"], ids: IdForms): AnyHandler {
  const { prepare, run } = typeof handler === "function" ? { prepare: null, run: handler } : (handler as { prepare: RunAny; run: RunAny });
  const shown: RunAny = async (input, context, prepared) => ids.show(await run(ids.read(path, input), context, prepared));
  return prepare === null ? shown : { prepare: (input, context) => prepare(ids.read(path, input), context), run: shown };
}

function makeReads(deps: DialectDeps, contract: Calls, context: ReadContext | WriteContext): Reads {
  const { workspaceId, key, header, check }: Pick<KeyContext<unknown>, "workspaceId" | "key" | "header" | "check"> = context;
  return {
    deps,
    workspaceId,
    test: key.test,
    senders: key.senders,
    rows: "tx" in context ? context.tx : context.read,
    header,
    check,
    read: (endpoint, input: Input & CallOf<typeof endpoint>) => contract.read(endpoint, input, context),
    authorize: (endpoint) => contract.authorize(endpoint, context),
  };
}

/** An object without the fields that were not given. */
export function drop<T extends object>(fields: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as {
    [Name in keyof T]?: NonNullable<T[Name]>;
  };
}
