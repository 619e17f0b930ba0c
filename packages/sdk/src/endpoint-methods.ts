import { APIPromise } from "./api-promise.ts";
import { encodeBinary, hasBinary } from "./call/binary.ts";
import type { Call, CallWithRetries } from "./call/call-with-retries.ts";
import { follow } from "./call/follow.ts";
import { readJson, readText, validateData } from "./call/response.ts";
import { buildPath, buildQuery, toJsonBody } from "./call/url.ts";
import { type EndpointFacts, type EndpointTable, readEndpoints } from "./endpoint-facts.ts";
import { UsageError } from "./errors.ts";
import type { CallOptions, Settings } from "./options.ts";
import { PagePromise } from "./pagination.ts";
import type { EndpointName } from "./platform/platform.ts";
import type { Page } from "./types.generated.ts";
import { buildForm, type EncodedForm, encodeForm, hasFile } from "./upload.ts";

type Fields = Readonly<Record<string, unknown>>;

/** An endpoint and its name. */
interface Named extends EndpointName {
  readonly facts: EndpointFacts;
  /** `noun.verb`, for errors. */
  readonly label: string;
}

/**
 * Builds `noun.verb(...)` methods for every endpoint of a table. `bound`, the activation of an agent's client, fills the first
 * parameter of every path.
 */
export function createMethods(table: EndpointTable, call: CallWithRetries, settings: Settings, bound?: string): object {
  const agents = bound !== undefined;
  const groups = Object.entries(table).map(([noun, endpoints]) => {
    const methods = readEndpoints(endpoints).map(([verb, facts]) => {
      const endpoint = { agents, noun, verb, facts, label: `${noun}.${verb}` };
      return [verb, createMethod(endpoint, call, settings, agents ? [bound] : [])];
    });
    return [noun, Object.freeze(Object.fromEntries(methods))];
  });
  return Object.fromEntries(groups);
}

/** Extra time in milliseconds for long polling: how long the server may wait. */
function longPollMs({ waitSeconds }: EndpointFacts, { timeout = waitSeconds }: Fields): number {
  return waitSeconds !== undefined && typeof timeout === "number" && timeout > 0 ? timeout * 1000 : 0;
}

/** Splits the input into query and body: without a body all is query; otherwise fields of the declared query go there and the rest is the body. */
function splitInput({ body, query }: EndpointFacts, input: Fields): { query: Fields; body: Fields | undefined } {
  if (!body) return { query: input, body: undefined };
  if (!Array.isArray(query)) return { query: {}, body: input };
  const inQuery = (name: string): boolean => query.includes(name);
  const entries = Object.entries(input);
  return {
    query: Object.fromEntries(entries.filter(([name]) => inQuery(name))),
    body: Object.fromEntries(entries.filter(([name]) => !inQuery(name))),
  };
}

function readOptions(value: unknown, label: string): CallOptions {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null) throw new UsageError({ message: `${label}: the options must be an object.` });
  return value;
}

function readInput(value: unknown, label: string): Fields {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError({ message: `${label}: the input must be an object.` });
  }
  return value as Fields;
}

interface Input {
  readonly params: readonly unknown[];
  readonly fields: Fields;
  readonly options: CallOptions;
}

/** The arguments of a method: path parameters in order, the input, options. */
function readArguments({ facts, label }: Named, args: readonly unknown[], bound: readonly string[]): Input {
  const count = countParams(facts) - bound.length;
  const takesInput = facts.query !== undefined || facts.body !== undefined;
  return {
    params: [...bound, ...args.slice(0, count)],
    fields: takesInput ? readInput(args[count], label) : {},
    options: readOptions(args[takesInput ? count + 1 : count], label),
  };
}

function countParams({ path }: EndpointFacts): number {
  return path.split("/:").length - 1;
}

function buildCall(endpoint: Named, { params, fields, options }: Input, settings: Settings, form?: EncodedForm): Call<unknown> {
  const { facts, label } = endpoint;
  const { method, open = false, keyOptional = false, produces, binary } = facts;
  const { query, body } = splitInput(facts, fields);
  return {
    method,
    target: buildPath(facts, params, label) + buildQuery(query, label),
    ...(form ?? { body: body && toJsonBody(body, label) }),
    accept: produces === undefined ? "application/json" : `${produces}, application/json;q=0.9`,
    authorize: keyOptional ? "if-known" : !open,
    // The server stores idempotency keys per workspace. Public and dev endpoints have none, so a repeat there would act twice.
    keyed: !open,
    longPollMs: longPollMs(facts, fields),
    options,
    read: async (response, request) => {
      warnOfEnd(label, response.headers, settings);
      const data = produces === undefined ? readJson(response, request) : binary ? response.bytes : readText(response);
      await validateData(endpoint, data, request, options.validate ?? settings.validate, settings.runtime.warn);
      return data;
    },
  };
}

/** Warns of an operation that will be gone, once for each client. */
function warnOfEnd(label: string, { deprecation, sunset }: Readonly<Record<string, string>>, { announced, runtime }: Settings): void {
  if (deprecation === undefined || announced.has(label)) return;
  announced.add(label);
  runtime.warn(`${label} is deprecated${sunset ? ` and gone from ${sunset}` : ""}. The API reference says what to use instead.`);
}

/** The data of the messages of a stream. */
async function* followEndpoint(endpoint: Named, input: Input, settings: Settings): AsyncGenerator<unknown, void, undefined> {
  const call = { ...buildCall(endpoint, input, settings), accept: "text/event-stream, application/json;q=0.9" };
  for await (const { data } of follow(call, settings)) if (data !== null) yield JSON.parse(data);
}

function createMethod(endpoint: Named, call: CallWithRetries, settings: Settings, bound: readonly string[]) {
  const { facts, label } = endpoint;
  if (facts.stream) return (...args: readonly unknown[]) => followEndpoint(endpoint, readArguments(endpoint, args, bound), settings);
  return (...args: readonly unknown[]) => {
    // Async, so that invalid arguments reject the promise like every other failure.
    const send = async (more: Fields) => {
      const input = readArguments(endpoint, args, bound);
      const given = input.fields;
      // A call without a file is sent synchronously, before the method returns.
      const form =
        facts.maxFileBytes !== undefined && hasFile(given)
          ? await encodeForm(await buildForm(given, facts.maxFileBytes, label))
          : undefined;
      const encoded = form === undefined && hasBinary(given) ? ((await encodeBinary(given)) as Fields) : given;
      return call(buildCall(endpoint, { ...input, fields: { ...encoded, ...more } }, settings, form));
    };
    if (!facts.page) return new APIPromise(send({}));
    const page = send as (more: Fields) => ReturnType<typeof call<Page<unknown>>>;
    return new PagePromise(page({}), (cursor) => page({ page: undefined, cursor }));
  };
}
