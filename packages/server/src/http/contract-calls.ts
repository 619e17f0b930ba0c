import { type CallInput, type Endpoint, isOperatorCall, type MailsvcContract, type Params, paramNames } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import type { Reader, Tx } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import { authorizeDeveloper } from "./auth.ts";
import type { AnyHandler, Input } from "./call.ts";
import type { ChangeRecorder } from "./change-recorder.ts";
import type { HttpDeps } from "./deps.ts";
import type { KeyContext } from "./handler.ts";
import { runHandler } from "./transaction.ts";
import { parseValue } from "./validation.ts";

/** The input of a call: path parameters, query and body in one object. */
export type CallOf<E extends Endpoint> = Params<E["path"]> & CallInput<E>;

/** The answer of a call; where an endpoint has several statuses, its body. */
export type AnswerOf<E extends Endpoint> = z.input<E["output"]>;

/** The context of a request, and what its calls read from or write to. */
type ReadingContext = KeyContext<HttpDeps> & { readonly read: Reader };
type WritingContext = KeyContext<HttpDeps> & { readonly tx: Tx };

/**
 * The part of a call that runs inside the transaction, once the part before it is done. `also` are fields of its input that the preparation
 * does not need.
 */
export type PreparedCall<E extends Endpoint> = (context: WritingContext, also?: Partial<CallOf<E>>) => Promise<AnswerOf<E>>;

/**
 * Calls endpoints of the contract within the request of a dialect: with its key, whose permissions count as ever, and in its transaction.
 * Each method throws ApiError, also validation_error for input that the contract refuses.
 */
export class ContractCalls {
  readonly #handlers = new Map<Endpoint, AnyHandler>();
  readonly #changes: ChangeRecorder;

  constructor(
    contract: Partial<MailsvcContract>,
    handlers: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
    changes: ChangeRecorder,
  ) {
    this.#changes = changes;
    for (const [noun, group] of Object.entries(contract))
      for (const [verb, endpoint] of Object.entries(group)) this.#handlers.set(endpoint, handlers[noun]?.[verb] as AnyHandler);
  }

  /** Calls a read, in a read or inside a transaction. */
  read<E extends Endpoint>(endpoint: E, input: CallOf<E>, context: ReadingContext | WritingContext): Promise<AnswerOf<E>> {
    return this.#run(
      endpoint,
      parse(endpoint, input, context),
      { ...context, read: "tx" in context ? context.tx : context.read },
      undefined,
    );
  }

  /** Calls a write that prepares nothing, inside the transaction. */
  write<E extends Endpoint>(endpoint: E, input: CallOf<E>, context: WritingContext): Promise<AnswerOf<E>> {
    return this.#write(endpoint, parse(endpoint, input, context), context, undefined);
  }

  /** Checks the input of a write and does what it does before its transaction; gives what runs inside it. */
  async prepare<E extends Endpoint>(endpoint: E, input: CallOf<E>, context: ReadingContext): Promise<PreparedCall<E>> {
    const parsed = parse(endpoint, input, context);
    const handler = this.#find(endpoint);
    const prepared = typeof handler === "function" ? undefined : await handler.prepare(parsed, context);
    return (within, also) => this.#write(endpoint, { ...parsed, ...also }, within, prepared);
  }

  /** Throws ApiError forbidden unless the key of the request may call an endpoint. */
  authorize(endpoint: Endpoint, { key }: Pick<KeyContext<HttpDeps>, "key">): void {
    authorizeDeveloper(key, endpoint);
  }

  async #write<E extends Endpoint>(endpoint: E, input: Input, context: WritingContext, prepared: unknown): Promise<AnswerOf<E>> {
    const run = (): Promise<unknown> => this.#run(endpoint, input, context, prepared);
    return (await this.#changes.record({ endpoint, input, context }, context.tx, run)) as AnswerOf<E>;
  }

  async #run<E extends Endpoint>(endpoint: E, input: Input, context: object, prepared: unknown): Promise<AnswerOf<E>> {
    const handler = this.#find(endpoint);
    const output = await runHandler(handler, input, context, prepared);
    // Handlers are checked against the contract where they are declared.
    return (Array.isArray(endpoint.status) ? (output as { body: unknown }).body : output) as AnswerOf<E>;
  }

  #find(endpoint: Endpoint): AnyHandler {
    const handler = this.#handlers.get(endpoint);
    if (!handler) throw new Error(`${endpoint.method} ${endpoint.path} is no endpoint of the contract.`);
    return handler;
  }
}

/** Checks the permission and the input of a call, in the order of a request. */
function parse(endpoint: Endpoint, input: Readonly<Input>, { key }: Pick<KeyContext<HttpDeps>, "key">): Input {
  authorizeDeveloper(key, endpoint);
  // The APIs of other services have no such decisions.
  if (isOperatorCall(endpoint, input)) throw new ApiError("forbidden", "This needs the API of mailsvc itself.");
  const names = new Set(paramNames(endpoint.path));
  const params = Object.fromEntries(Object.entries(input).filter(([name]) => names.has(name)));
  const rest = Object.fromEntries(Object.entries(input).filter(([name, value]) => !names.has(name) && value !== undefined));
  const schema = endpoint.query ?? endpoint.looseBody ?? endpoint.body;
  return { ...params, ...(schema && (parseValue(schema, rest) as Input)) };
}
