import { HttpResponse, http, type RequestHandler } from "msw";
import type { Contract, Endpoint } from "../contract/endpoint.ts";
import { ERRORS, type ErrorCode } from "../contract/errors.ts";
import { agentContract, contract } from "../contract/index.ts";
import { findKey } from "../contract/recipients.ts";
import type { z } from "../contract/zod.ts";
import type { MailsvcMethods } from "../methods.generated.ts";
import { DEFAULT_URL } from "../runtime.ts";
import { ANSWERS } from "./answers.generated.ts";

/** The name of an operation, such as `emails.send`. */
export type Operation = { [N in keyof MailsvcMethods]: `${N}.${keyof MailsvcMethods[N] & string}` }[keyof MailsvcMethods];

/** One request that was answered. */
export interface MockCall {
  readonly operation: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** The JSON body; undefined without one. */
  readonly body: unknown;
  readonly headers: Headers;
}

/** Answers to requests of one operation: fields that replace those of the recorded answer, or a function that makes them. */
export type MockAnswer = object | ((call: MockCall) => object);

export interface MockOptions {
  /** The address that the client under test is given; by default the client's own default. */
  readonly baseUrl?: string;
}

/** A mocked service: its handlers for msw, and what a test sets and reads. */
export interface MockMailsvc {
  /** For `setupServer` and `setupWorker` of msw. */
  readonly handlers: RequestHandler[];
  /** Answers an operation with these fields from now on. */
  answer(operation: Operation, answer: MockAnswer): void;
  /** Answers an operation with an error; after `times` of them it succeeds again. */
  fail(operation: Operation, code: ErrorCode, times?: number): void;
  /** The requests so far whose input was valid, in order; of one operation. */
  calls(operation?: Operation): MockCall[];
  /** Forgets requests, answers and errors. */
  reset(): void;
}

/**
 * The API without a server, for tests of code that only calls it, also in a browser: each operation of the contract checks the request as
 * the service does, and answers with the example of the reference, in which fields of the request are repeated. It keeps no state: for
 * states, retries, webhooks and the clock use `createWorld` or `startLocal` (docs/testing.md).
 */
export function mockMailsvc({ baseUrl = DEFAULT_URL }: MockOptions = {}): MockMailsvc {
  const mock = new Mock();
  const root = baseUrl.replace(/\/+$/, "");
  const handlers = [
    ...listOperations(contract, "").flatMap((operation) => toHandlers(root, operation, mock)),
    ...listOperations(agentContract, "agent.").flatMap((operation) => toHandlers(root, operation, mock)),
    http.all(`${root}/*`, ({ request }) => fail("not_found", `There is no ${request.method} ${new URL(request.url).pathname}.`)),
  ];
  return {
    handlers,
    answer: (operation, answer) => void mock.answers.set(operation, answer),
    fail: (operation, code, times = Number.POSITIVE_INFINITY) => void mock.failures.set(operation, { code, left: times }),
    calls: (operation) => mock.calls.filter((call) => operation === undefined || call.operation === operation),
    reset: () => mock.reset(),
  };
}

interface NamedEndpoint {
  readonly operation: string;
  readonly endpoint: Endpoint;
}

class Mock {
  readonly answers = new Map<string, MockAnswer>();
  readonly failures = new Map<string, { readonly code: ErrorCode; left: number }>();
  calls: MockCall[] = [];
  #created = 0;

  reset(): void {
    this.answers.clear();
    this.failures.clear();
    this.calls = [];
    this.#created = 0;
  }

  /** A failure that was asked for. */
  takeFailure(operation: string): ErrorCode | null {
    const failure = this.failures.get(operation);
    if (failure === undefined || failure.left <= 0) return null;
    failure.left -= 1;
    return failure.code;
  }

  /** The recorded answer with what the request says, if the contract allows it, and with what the test says. */
  makeAnswer({ operation, endpoint }: NamedEndpoint, call: MockCall): unknown {
    const recorded = shapeAnswer(operation, ANSWERS[operation] ?? {}, call, 100 * this.#created);
    if (typeof recorded !== "object" || recorded === null) return recorded;
    const repeated = { ...recorded, ...this.#repeat(recorded, call, endpoint) };
    const base = endpoint.output.safeParse(repeated).success ? repeated : recorded;
    const own = this.answers.get(operation);
    return { ...base, ...(typeof own === "function" ? own(call) : own) };
  }

  #repeat(recorded: object, { params, body }: MockCall, { method, body: schema }: Endpoint): Record<string, unknown> {
    const given: Record<string, unknown> = { ...(typeof body === "object" ? body : {}), ...params };
    // With the defaults that the service fills in, in fields of fields too.
    const read = schema?.safeParse(body);
    const whole: Record<string, unknown> = read?.success && typeof read.data === "object" ? { ...given, ...read.data, ...params } : given;
    const names = Object.keys(given).filter((name) => name in recorded);
    const repeated = Object.fromEntries(names.map((name) => [name, whole[name]]));
    if (method !== "POST") return repeated;
    this.#created += 1;
    if ("id" in repeated || !("id" in recorded)) return repeated;
    return { ...repeated, id: numberId(String(recorded.id), this.#created) };
  }
}

const SENDS: ReadonlySet<string> = new Set(["emails.send", "emails.sendTemplate", "templates.send"]);

/** A send, or one mail of a batch, as a request has it. */
type Sending = Readonly<Record<string, unknown>>;

/** The recorded answer in the shape that the service gives to this request. */
function shapeAnswer(operation: string, recorded: unknown, { body }: MockCall, from: number): unknown {
  if (typeof recorded !== "object" || recorded === null || typeof body !== "object" || body === null) return recorded;
  if (SENDS.has(operation)) return shapeSend(recorded as Sending, body as Sending, from);
  if (operation !== "emails.sendBatch") return recorded;
  const [queued = {}] = (recorded as { results?: Sending[] }).results ?? [];
  const results = toList((body as Sending)["emails"]).map((mail, i) => {
    const { template } = mail as Sending;
    return shapeSend({ ...queued, ...(template === undefined ? {} : { template }) }, mail as Sending, from + 100 * i);
  });
  return { ...recorded, queued: results.length, failed: 0, results };
}

/** The answer to one mail: its id; one mail to several people with its recipients; or the ids of a mail to each of a list. */
function shapeSend({ id: known, ids: others, template }: Sending, { to, cc, bcc, together }: Sending, from: number): Sending {
  const first = String(known ?? toList(others)[0]);
  const of = (kind: string, value: unknown) => toList(value).map((email) => ({ kind, email }));
  const named = new Map<unknown, { kind: string; email: unknown }>();
  for (const one of [...of("to", to), ...of("cc", cc), ...of("bcc", bcc)]) {
    const key = findKey(String(one.email)) ?? one.email;
    if (!named.has(key)) named.set(key, one);
  }
  const people = [...named.values()];
  const ids = people.map((_, i) => numberId(first, from + i));
  const more = template === undefined ? {} : { template };
  if (together === true || cc !== undefined || bcc !== undefined) {
    const recipients = people.map((one, i) => ({ id: ids[i], ...one, status: "queued" }));
    return { id: numberId(first, from), status: "queued", recipients, ...more };
  }
  return Array.isArray(to)
    ? { ids, status: "queued", count: ids.length, ...more }
    : { id: numberId(first, from), status: "queued", ...more };
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

/** Ids are letters and digits after an underscore: the last ones count. */
function numberId(id: string, number: number): string {
  return id.slice(0, -4) + number.toString(32).padStart(4, "0");
}

function listOperations(nouns: Contract, prefix: string): NamedEndpoint[] {
  const all = Object.entries(nouns).flatMap(([noun, verbs]) =>
    Object.entries(verbs).map(([verb, endpoint]) => ({ operation: `${prefix}${noun}.${verb}`, endpoint })),
  );
  // A literal segment goes before a parameter: /templates/render before /templates/:id.
  const rank = ({ endpoint }: NamedEndpoint): string => endpoint.path.replaceAll(":", "~");
  return all.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function toHandlers(root: string, named: NamedEndpoint, mock: Mock): RequestHandler[] {
  const { endpoint } = named;
  const method = endpoint.method.toLowerCase() as "get" | "post" | "patch" | "delete";
  return [endpoint.path, ...(endpoint.aliases ?? [])].map((path) =>
    http[method](root + path, async ({ request, params }) => {
      const call = await readCall(request, params, named);
      if (call instanceof Response) return call;
      mock.calls.push(call);
      const code = mock.takeFailure(named.operation);
      if (code !== null) return fail(code);
      return respond(endpoint, mock.makeAnswer(named, call));
    }),
  );
}

async function readCall(
  request: Request,
  params: Readonly<Record<string, string | readonly string[] | undefined>>,
  { operation, endpoint }: NamedEndpoint,
): Promise<MockCall | Response> {
  const open = endpoint.access === "public" || endpoint.access === "dev";
  if (!open && !/^Bearer \S+$/.test(request.headers.get("authorization") ?? "")) return fail("unauthorized");
  const query = Object.fromEntries(new URL(request.url).searchParams);
  let body: unknown;
  if (endpoint.body && request.headers.get("content-type")?.startsWith("application/json")) {
    const text = await request.clone().text();
    try {
      body = text === "" ? {} : JSON.parse(text);
    } catch {
      return fail("validation_error", "The body is not valid JSON.");
    }
  }
  const checkBody = endpoint.body && body !== undefined ? listFaults(endpoint.looseBody ?? endpoint.body, body) : [];
  const faults = [...(endpoint.query ? listFaults(endpoint.query, query) : []), ...checkBody];
  if (faults[0]) return fail("validation_error", faults[0].message, faults);
  const single = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
  return { operation, params: single, query, body, headers: request.headers };
}

interface Fault {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

function listFaults(schema: z.ZodType, value: unknown): Fault[] {
  const result = schema.safeParse(value);
  if (result.success) return [];
  return result.error.issues.map(({ path, code, message }) => ({
    path: path.map((key, i) => (typeof key === "number" ? `[${key}]` : `${i === 0 ? "" : "."}${String(key)}`)).join(""),
    code,
    message,
  }));
}

function respond(endpoint: Endpoint, answer: unknown): Response {
  const status = typeof endpoint.status === "object" ? endpoint.status[0] : (endpoint.status ?? 200);
  if (endpoint.stream) return new HttpResponse("", { headers: { "content-type": "text/event-stream" } });
  if (endpoint.produces === undefined) return HttpResponse.json(answer as object, { status });
  return new HttpResponse(String(answer ?? ""), { status, headers: { "content-type": endpoint.produces } });
}

function fail(code: ErrorCode, message: string = ERRORS[code].cause, details?: readonly Fault[]): Response {
  const { status, hint } = ERRORS[code];
  return HttpResponse.json(
    { error: { code, message, status, requestId: "req_mock", hint, ...(details && { details }) } },
    { status, headers: { "x-request-id": "req_mock" } },
  );
}
