import { APIPromise } from "./api-promise.ts";
import { encodeBinary, hasBinary } from "./call/binary.ts";
import type { Call, CallWithRetries } from "./call/call-with-retries.ts";
import { follow } from "./call/follow.ts";
import { readJson, readText, validateData } from "./call/response.ts";
import { buildPath, buildQuery, toJsonBody } from "./call/url.ts";
import { type Contract, type Endpoint, type Page, Pagination, paramNames } from "./contract/index.ts";
import { UsageError } from "./errors.ts";
import type { Methods } from "./methods.ts";
import type { CallOptions, Settings } from "./options.ts";
import { PagePromise } from "./pagination.ts";
import { buildForm, type EncodedForm, encodeForm, hasFile } from "./upload.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Builds `noun.verb(...)` methods for every endpoint of a contract. `bound` fills the first parameters of every path. */
export function createMethods<C extends Contract>(
  contract: C,
  call: CallWithRetries,
  settings: Settings,
  bound: readonly string[] = [],
): Methods<C> {
  const groups = Object.entries(contract).map(([noun, endpoints]) => {
    const methods = Object.entries(endpoints).map(([verb, endpoint]) => [
      verb,
      createMethod(endpoint, `${noun}.${verb}`, call, settings, bound),
    ]);
    return [noun, Object.freeze(Object.fromEntries(methods))];
  });
  return Object.fromEntries(groups) as Methods<C>;
}

function isPage({ output }: Endpoint): boolean {
  return "shape" in output && (output.shape as Fields).pagination === Pagination;
}

/** Extra time in milliseconds for long polling: in the contract, a query field `timeout` is the number of seconds the server may wait. */
function longPollMs({ query }: Endpoint, input: Fields): number {
  const seconds = query?.shape.timeout?.safeParse(input.timeout);
  return seconds?.success && typeof seconds.data === "number" ? seconds.data * 1000 : 0;
}

/** Splits the input into query and body: a GET has only a query; otherwise fields of the declared query go there and the rest is the body. */
function splitInput({ method, query, body }: Endpoint, input: Fields): { query: Fields; body: Fields | undefined } {
  if (method === "GET" || !body) return { query: input, body: undefined };
  const inQuery = (name: string): boolean => Object.hasOwn(query?.shape ?? {}, name);
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

function buildCall(
  endpoint: Endpoint,
  label: string,
  params: readonly unknown[],
  input: Fields,
  options: CallOptions,
  settings: Settings,
  form: EncodedForm | undefined,
) {
  const { method, access, produces } = endpoint;
  const open = access === "public" || access === "dev";
  const { query, body } = splitInput(endpoint, input);
  const call: Call<unknown> = {
    method,
    target: buildPath(endpoint.path, params, label) + buildQuery(query, label),
    ...(form ?? { body: body && toJsonBody(body, label) }),
    accept: produces === undefined ? "application/json" : `${produces}, application/json;q=0.9`,
    authorize: !open,
    // The server stores idempotency keys per workspace. Public and dev endpoints have none, so a repeat there would act twice.
    keyed: !open,
    longPollMs: longPollMs(endpoint, input),
    options,
    read: (response, request) => {
      const data = produces === undefined ? readJson(response, request) : readText(response);
      validateData(endpoint, data, request, options.validate ?? settings.validate, settings.runtime.warn);
      return data;
    },
  };
  return call;
}

/** The data of the messages of a stream. */
async function* followEndpoint(
  endpoint: Endpoint,
  label: string,
  params: readonly unknown[],
  input: Fields,
  options: CallOptions,
  settings: Settings,
): AsyncGenerator<unknown, void, undefined> {
  const call = buildCall(endpoint, label, params, input, options, settings, undefined);
  for await (const { data } of follow({ ...call, accept: "text/event-stream, application/json;q=0.9" }, settings))
    if (data !== null) yield JSON.parse(data);
}

function createMethod(endpoint: Endpoint, label: string, call: CallWithRetries, settings: Settings, bound: readonly string[]) {
  const count = paramNames(endpoint.path).length - bound.length;
  const takesInput = endpoint.query !== undefined || endpoint.body !== undefined;
  if (endpoint.stream)
    return (...args: readonly unknown[]) => {
      const input = takesInput ? readInput(args[count], label) : {};
      const options = readOptions(args[takesInput ? count + 1 : count], label);
      return followEndpoint(endpoint, label, [...bound, ...args.slice(0, count)], input, options, settings);
    };
  return (...args: readonly unknown[]) => {
    // Async, so that invalid arguments reject the promise like every other failure.
    const send = async (more: Fields) => {
      const given = takesInput ? readInput(args[count], label) : {};
      const options = readOptions(args[takesInput ? count + 1 : count], label);
      const { file } = endpoint;
      // A call without a file is sent synchronously, before the method returns.
      const form = file && hasFile(given) ? await encodeForm(await buildForm(given, file, label)) : undefined;
      const input = form === undefined && hasBinary(given) ? ((await encodeBinary(given)) as Fields) : given;
      const params = [...bound, ...args.slice(0, count)];
      return call(buildCall(endpoint, label, params, { ...input, ...more }, options, settings, form));
    };
    if (!isPage(endpoint)) return new APIPromise(send({}));
    const page = send as (more: Fields) => ReturnType<typeof call<Page<unknown>>>;
    return new PagePromise(page({}), (cursor) => page({ page: undefined, cursor }));
  };
}
