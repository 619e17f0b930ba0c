import type { ErrorCode } from "./errors.ts";
import type { AgentScope, Permission } from "./scopes.ts";
import type * as z from "./zod.ts";

/**
 * Callers of an endpoint.
 * `public`: anyone. `key`: any live developer key. `operator`: the key that manages the workspaces of the server.
 * `dev`: no key, but only in dev mode and only from this machine.
 * `agent`: the key of the activation named in the path; `scope`: the same, if the brand granted the scope.
 */
export type Access = "public" | "key" | "operator" | "dev" | "agent" | { readonly permission: Permission } | { readonly scope: AgentScope };

/** True if an endpoint is for agents' keys. */
export function isForAgents(access: Access): boolean {
  return access === "agent" || (typeof access === "object" && "scope" in access);
}

/** The permission, or agent scope, an endpoint requires; null when it requires none. */
export function requiredGrant(access: Access): Permission | AgentScope | null {
  return typeof access === "string" ? null : "scope" in access ? access.scope : access.permission;
}

/**
 * Recipients of the mail that a write sends, at once or later. Unless it is `nobody`, a client that acts for a person, such as an MCP
 * client, asks that person before the call.
 * `one`: at most the one person it is about. `contacts`: at most each of its `contacts` or `rows`.
 * `named`: its `to`, `cc` and `bcc`. `batch`: those of each of its `emails`. `audience`: the audience of a campaign.
 * `answer`: the addresses that a received mail, given by its `id`, names for answers.
 * `proposal`: the lists of a proposal, if the call sends it. `unknown`: people not known before, such as those an automation picks.
 */
export type MailsTo = "nobody" | "one" | "contacts" | "named" | "batch" | "audience" | "answer" | "proposal" | "unknown";

/**
 * A decision that reaches beyond the workspace of its caller. While a server has one workspace, its owner is the operator and decides; from
 * the second workspace on, it needs the operator key. `call`: the whole call. `when`: a call in which this field of the body is true.
 * `details`: what it tells of the server; others get the answer without it. `none`: nothing, where the permission would let one think so.
 */
export type OperatorRight = "call" | "details" | "none" | { readonly when: string };

/** True if a call with this input is a decision of the operator. */
export function isOperatorCall({ operatorRight }: Pick<Endpoint, "operatorRight">, input: Readonly<Record<string, unknown>>): boolean {
  return operatorRight === "call" || (typeof operatorRight === "object" && input[operatorRight.when] === true);
}

/** True if the operator key may call a developers' endpoint. */
export function takesOperatorKey({ operatorRight }: Pick<Endpoint, "operatorRight">): boolean {
  return operatorRight === "call" || typeof operatorRight === "object";
}

export type SuccessStatus = 200 | 201;

/** The possible status codes of a success. */
export function listStatuses({ status = 200 }: Pick<Endpoint, "status">): readonly SuccessStatus[] {
  return typeof status === "number" ? [status] : status;
}

/** Limits of an uploaded file. */
export interface FileRules {
  readonly maxBytes: number;
  /** Accepted media types. */
  readonly types: readonly string[];
}

/** A worked example: it must parse against the endpoint's schemas (a test checks) and appears in the docs. */
export interface Example {
  readonly summary: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** The announced end of an operation. Headers, the OpenAPI document, the SDK's warning and `mailsvc doctor` follow from it. */
export interface Deprecation {
  /** Day of the announcement, such as 2027-03-01. */
  readonly since: `${number}-${number}-${number}`;
  /** First day on which it may be gone, at least a year after the announcement. */
  readonly sunset: `${number}-${number}-${number}`;
  /** Replacement, as a sentence: "Use emails.list with the filter tag." */
  readonly instead: string;
}

/**
 * One endpoint, as plain data. The server's routing and validation, the SDK's methods, the CLI's commands,
 * the OpenAPI document and the API reference all follow from it; nothing repeats these facts.
 */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Full path with `:name` for parameters. */
  readonly path: `/${string}`;
  /** Other paths of the SAME operation: same input, same meaning. */
  readonly aliases?: readonly `/${string}`[];
  readonly access: Access;
  /** Decisions in it that are the operator's. Every write of billing says so. */
  readonly operatorRight?: OperatorRight;
  /** One line, imperative: OpenAPI summary, CLI help and SDK docs. */
  readonly summary: string;
  /** Details beyond the summary. */
  readonly description?: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** Schema that checks a request's body instead of `body`, where the handler checks the items, because they may fail one by one. */
  readonly looseBody?: z.ZodObject;
  /** Field of `body` that the whole body is: a JSON array instead of an object. For dialects only. */
  readonly bodyIs?: string;
  /** Ignores unknown query parameters, and a body if `body` is absent. For dialects only, because clients of other services send them. */
  readonly ignoresUnknown?: true;
  /** The body is not read as JSON: its handler gets the bytes and the headers, as a signature, a form or an upload needs them. */
  readonly raw?: true;
  /** The body may come as multipart/form-data too: a file in `file`, which becomes `fileName` and `contentBase64`, and fields as text. */
  readonly form?: true;
  /** Limits of an uploaded file; required with `form`. Commands and methods take a file where the body has base64. */
  readonly file?: FileRules;
  /** The response has an ETag, and If-None-Match is answered with 304. */
  readonly etag?: true;
  /** Recipients of its mail. Every write with a developer's key declares them. */
  readonly mailsTo?: MailsTo;
  /** A write that a test key may make too, because no mail leaves by it; a read may always be made. */
  readonly testKeys?: true;
  /** The response contains a secret that is shown once; the copy stored for its Idempotency-Key is encrypted. */
  readonly confidential?: true;
  /**
   * A read that is never compressed, because its answer may have a secret, such as a link that signs in, beside text that a stranger has
   * chosen: the size of both together, compressed, would tell about the secret to somebody who sees it on the line (BREACH).
   */
  readonly uncompressed?: true;
  /** Cannot be undone, so the command asks for confirmation. Always true of a DELETE. */
  readonly irreversible?: true;
  /** Deletes data, of which dev mode has none that matters: nobody is asked. */
  readonly destructive?: true;
  /** Makes a request to somebody's webhook at once. */
  readonly callsOut?: true;
  /** The status of a success; 200 when absent. If there are several, the handler chooses. */
  readonly status?: SuccessStatus | readonly [SuccessStatus, SuccessStatus];
  readonly output: z.ZodType;
  /** Media type of a successful response that is not JSON; `output` is then a string, or `Bytes`. */
  readonly produces?: "text/html" | "text/plain" | "message/rfc822" | "application/octet-stream";
  /** The response is a stream of server-sent events, each with an `output` as its data. It goes on until one side ends it. */
  readonly stream?: true;
  /** A read that may wait for minutes. It ends when its key is revoked. */
  readonly waits?: true;
  /**
   * Extra seconds the server may need to answer, because it waits for others or works through much. Clients add them to their time
   * limits. A `timeout` in the query takes precedence.
   */
  readonly waitSeconds?: number;
  /** A stream of the same noun that answers instead when the client accepts text/event-stream. */
  readonly followedBy?: string;
  /** Error codes beyond those of every endpoint, COMMON_ERRORS. */
  readonly errors?: readonly ErrorCode[];
  /** The rate limit bucket of the key that it draws from; by default `read` for GET and `write` for the rest. */
  readonly bucket?: "send" | "write" | "read";
  /** Further bucket of an agent's endpoint: `message` for each activation, `log` for each of its runs. */
  readonly agentBucket?: "message" | "log";
  readonly examples?: readonly Example[];
  /** Its announced end, if it has one. */
  readonly deprecated?: Deprecation;
  /** The name of its tool for MCP clients, where it has one of its own; `api_call` reaches most others. */
  readonly tool?: string;
}

/** Further declarations that a write with a developer's key needs. */
type OfWrites<E extends Endpoint> = E["method"] extends "GET"
  ? unknown
  : E["access"] extends { readonly permission: `${string}:write` | `${string}:send` }
    ? { readonly mailsTo: MailsTo } & (E["access"] extends { readonly permission: "billing:write" }
        ? { readonly operatorRight: OperatorRight }
        : unknown)
    : unknown;

/** Declares an endpoint and keeps its exact type. */
export function endpoint<const E extends Endpoint>(e: E & OfWrites<E>): E {
  return e;
}

/** Groups of endpoints: `contract.emails.send`. */
export type Contract = Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;

/** Error codes of every endpoint. */
export const COMMON_ERRORS: readonly ErrorCode[] = ["validation_error", "rate_limited", "internal_error", "storage_unavailable"];

type Names<P extends string> = P extends `${string}:${infer N}/${infer Rest}`
  ? [N, ...Names<`/${Rest}`>]
  : P extends `${string}:${infer N}`
    ? [N]
    : [];

/** The names of a path's parameters, in order: `["id"]` for `/emails/:id`. */
export type ParamNames<P extends string> = Names<P>;

/** The parameters of a path as an object of strings. */
export type Params<P extends string> = { [N in Names<P>[number]]: string };

type Shape<S, Side extends "input" | "output"> = S extends z.ZodType ? (Side extends "input" ? z.input<S> : z.output<S>) : unknown;

/** The input of a call besides its path parameters: the query of a GET, otherwise the body. */
export type CallInput<E extends Endpoint> = Shape<E["query"], "input"> & Shape<E["body"], "input">;

/** The input of a handler: parsed path parameters, query and body in one flat object. */
export type HandlerInput<E extends Endpoint> = Params<E["path"]> &
  Shape<E["query"], "output"> &
  Shape<E["looseBody"] extends z.ZodObject ? E["looseBody"] : E["body"], "output">;

/** The response data of an endpoint. */
export type Output<E extends Endpoint> = z.output<E["output"]>;

/** A message of a stream; without data it only keeps the connection open. A client that comes back names the last id it has seen. */
export interface StreamMessage<T> {
  readonly id: string;
  readonly data?: T;
}

/** The return value of a handler: the data before serialisation; with the status where an endpoint has several. */
export type HandlerOutput<E extends Endpoint> = E["stream"] extends true
  ? AsyncIterable<StreamMessage<z.input<E["output"]>>>
  : E["status"] extends readonly SuccessStatus[]
    ? { readonly status: SuccessStatus; readonly body: z.input<E["output"]> }
    : z.input<E["output"]>;

/** The parameter names of a path, at run time. */
export function paramNames(path: string): string[] {
  return [...path.matchAll(/:([A-Za-z]+)/g)].map((m) => m[1] as string);
}
