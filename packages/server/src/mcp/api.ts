import { createHash } from "node:crypto";
import {
  type Contract,
  contract,
  type Endpoint,
  ErrorBody,
  type ErrorDetail,
  findClosest,
  findOtherAt,
  type Output,
  paramNames,
} from "@mailsvc/sdk/contract";
import type { z } from "zod";
import { check } from "../http/validation.ts";
import { hasDefaultKey, type Operation, takesIdempotencyKey } from "./operations.ts";
import { ToolError } from "./tool-error.ts";

/** A request to the API, without the key. */
export interface ApiRequest {
  readonly method: Endpoint["method"];
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Its answer, whatever the status. */
export interface ApiAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed when it is JSON, text otherwise. */
  readonly body: unknown;
}

/** Sends a request with the key of the caller: in process for `/mcp`, through the SDK for the command line. Rejects with ToolError. */
export type SendRequest = (request: ApiRequest, signal: AbortSignal) => Promise<ApiAnswer>;

/** The answer to `me.get`: the workspace, the key and the server. */
export type Me = Output<(typeof contract)["me"]["get"]>;

/** The answer to a write. */
interface Written {
  readonly data: unknown;
  /** The key under which the server keeps the answer for a day; null without one. */
  readonly idempotencyKey: string | null;
  /** The answer is that of an earlier call with the same key: this one did nothing. */
  readonly replayed: boolean;
}

// Maximum number of faults, as in the API.
const MAX_FAULTS = 20;
// Names that a model made up are cut to this length.
const MAX_NAME = 60;

type Arguments = Readonly<Record<string, unknown>>;

/** Calls operations of the contract for one request of a client. Arguments are flat: fields of path, query and body by name. */
export class Api {
  readonly #send: SendRequest;
  readonly #signal: AbortSignal;

  constructor(send: SendRequest, signal: AbortSignal) {
    this.#send = send;
    this.#signal = signal;
  }

  /** Calls an operation that is named in the source, with its type. Throws ToolError. */
  async get<N extends keyof typeof contract, V extends keyof (typeof contract)[N] & string>(
    noun: N,
    verb: V,
    input: Arguments,
  ): Promise<(typeof contract)[N][V] extends Endpoint ? Output<(typeof contract)[N][V]> : never> {
    const endpoint = (contract as Contract)[noun]?.[verb] as Endpoint;
    const { data } = await this.call({ id: `${noun}.${verb}`, endpoint }, input);
    return data as (typeof contract)[N][V] extends Endpoint ? Output<(typeof contract)[N][V]> : never;
  }

  /**
   * Calls an operation; a write by the given Idempotency-Key, one that sends mail else by a key made of its arguments. Throws ToolError.
   */
  async call(operation: Operation, input: Arguments, idempotencyKey?: string): Promise<Written> {
    const { endpoint } = operation;
    const given = takesIdempotencyKey(endpoint) ? (idempotencyKey ?? null) : null;
    const key = given ?? (hasDefaultKey(endpoint) ? makeIdempotencyKey(operation.id, input) : null);
    const answer = await this.#send(
      { ...splitInput(operation, input), method: endpoint.method, headers: key === null ? {} : { "idempotency-key": key } },
      this.#signal,
    );
    if (answer.status >= 300) throw toToolError(answer);
    return { data: answer.body, idempotencyKey: key, replayed: answer.headers["idempotency-replayed"] === "true" };
  }
}

/**
 * The Idempotency-Key of mail that is sent without one: the same for the same arguments. A client that repeats a call because it did not
 * see the result then sends nothing twice within the day for which answers are kept.
 */
function makeIdempotencyKey(operation: string, input: Arguments): string {
  return `mcp-${createHash("sha256").update(operation).update(toCanonicalJson(input)).digest("hex").slice(0, 40)}`;
}

/**
 * Checks the arguments of an operation as its endpoint does, so that what is counted and shown to a person is what the endpoint takes.
 * Throws ToolError.
 */
export function assertInput(operation: Operation, input: Arguments): void {
  const { endpoint } = operation;
  const { query, body } = splitInput(operation, input);
  const parts = [
    ...(endpoint.query && endpoint.method !== "GET" ? [check(endpoint.query, query)] : []),
    ...(endpoint.body ? [check(endpoint.looseBody ?? endpoint.body, body)] : []),
  ];
  const faults = parts
    .flatMap((part) => ("details" in part ? part.details : []))
    .map((fault) => (isSurplus(fault) ? { path: "", message: refuseArgument(operation.id, fault.path, listArguments(endpoint)) } : fault));
  if (faults.length > 0) throw new ToolError(listFaults("validation_error", "The arguments are not valid.", faults));
}

/** The arguments of a tool as its schema reads them. Throws ToolError, which names each that is wrong. */
export function readArguments<I extends z.ZodObject>(tool: string, schema: I, given: Arguments): z.output<I> {
  const checked = check(schema, given);
  if ("value" in checked) return checked.value;
  const faults = checked.details.map((fault) =>
    isSurplus(fault) ? { path: "", message: refuseArgument(tool, fault.path, Object.keys(schema.shape)) } : fault,
  );
  throw new ToolError(listFaults(null, `The arguments of ${tool} are wrong:`, faults));
}

/** True if a fault is an unknown argument, not an unknown field inside one. */
function isSurplus({ code, path }: ErrorDetail): boolean {
  return code === "unknown_field" && !/[.[]/.test(path);
}

/** Says which arguments there are instead of one that there is none of. */
function refuseArgument(taker: string, name: string, known: readonly string[]): string {
  const shown = name.slice(0, MAX_NAME);
  const closest = findClosest(shown, known);
  const instead = known.length === 0 ? "It takes none." : `Its arguments are: ${known.join(", ")}.`;
  return `${taker} has no argument ${shown}.${closest === null ? "" : ` Did you mean ${closest}?`} ${instead}`;
}

/** The names of the arguments of an operation. */
function listArguments({ path, query, body }: Endpoint): string[] {
  const fields = body && "shape" in body ? Object.keys(body.shape as object) : [];
  return [...new Set([...paramNames(path), ...Object.keys(query?.shape ?? {}), ...fields])];
}

/** JSON in which the order of the fields makes no difference. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(toCanonical(value));
}

function toCanonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCanonical);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, inner]: [string, unknown]) => [name, toCanonical(inner)]));
}

/** Puts each argument where the operation has it. Throws ToolError for what is missing or has no place. */
function splitInput(operation: Operation, input: Arguments): Pick<ApiRequest, "path" | "query" | "body"> {
  const { id, endpoint } = operation;
  const rest: Record<string, unknown> = { ...input };
  const path = paramNames(endpoint.path).reduce((made, name) => {
    const value = rest[name];
    delete rest[name];
    if (typeof value !== "string" || value === "") throw new ToolError(`${id} needs the argument ${name}: a text.`);
    // URL parsers treat these as path navigation, however they are encoded.
    if (value === "." || value === "..") throw new ToolError(`The argument ${name} of ${id} must not be "${value}".`);
    if (!value.isWellFormed()) throw new ToolError(`The argument ${name} of ${id} is not valid Unicode.`);
    return made.replace(`:${name}`, () => encodeURIComponent(value));
  }, endpoint.path as string);
  const other = findOtherAt(endpoint, path);
  if (other !== null) throw new ToolError(`With these arguments ${id} would be ${other}, which is another operation.`);
  const inQuery = Object.keys(endpoint.query?.shape ?? {});
  const query: Record<string, string> = {};
  for (const name of inQuery) {
    const value = rest[name];
    delete rest[name];
    if (value === undefined || value === null) continue;
    if (typeof value === "object") throw new ToolError(`The argument ${name} of ${id} must be a text, a number, true or false.`);
    query[name] = String(value);
  }
  // In one order of fields, because the server compares the bytes of requests with the same Idempotency-Key.
  if (endpoint.body) return { path, query, body: toCanonical(rest) };
  const [surplus] = Object.keys(rest);
  if (surplus !== undefined) throw new ToolError(refuseArgument(id, surplus, listArguments(endpoint)));
  return { path, query, body: undefined };
}

/** Turns a refusal of the API into an error of the tool, with all its details. */
function toToolError({ status, body }: Pick<ApiAnswer, "status" | "body">): ToolError {
  const parsed = ErrorBody.safeParse(body);
  if (!parsed.success) return new ToolError(`The server answered with the status ${status}.`, "Is this a mailsvc server?");
  const { code, message, details, hint, requestId } = parsed.data.error;
  return new ToolError(listFaults(code, message, details), `${hint} (request ${requestId})`);
}

function listFaults(code: string | null, message: string, details: readonly Pick<ErrorDetail, "path" | "message">[]): string {
  const faults = details
    .slice(0, MAX_FAULTS)
    .map(({ path, message: fault }) => `  ${path === "" || fault.startsWith(path) ? "" : `${path}: `}${fault}`);
  return [code === null ? message : `${code}: ${message}`, ...faults].join("\n");
}
