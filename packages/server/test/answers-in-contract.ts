import { contract, type Endpoint, EventData, type EventType, served } from "@mailsvc/sdk/contract";
import type { Call } from "../src/http/call.ts";
import { listErrors } from "../src/http/openapi.ts";
import { Performer } from "../src/http/perform.ts";
import { type AnyResponse, isStreamed } from "../src/http/response.ts";
import { ApiError } from "../src/lib/api-error.ts";

// Reading a longer answer again would take the time of a test.
const MAX_CHECKED = 500_000;

const ENDPOINTS: ReadonlySet<Endpoint> = new Set(Object.values(served).flatMap((verbs): Endpoint[] => Object.values(verbs)));

const CHECKED = Symbol.for("mailsvc.test.answers-in-contract");

/**
 * For all tests, on both databases: checks that a successful answer has the fields of the contract and no others, and that the contract
 * names an error. A table row passed on as it is would show columns that nobody has promised.
 */
function checkAnswers(performer: Performer & { [CHECKED]?: true }): void {
  if (performer[CHECKED]) return;
  performer[CHECKED] = true;
  const { perform } = performer;
  performer.perform = async function (call) {
    const response = await perform.call(this, call).catch((error: unknown) => {
      if (error instanceof ApiError && !namesError(call, error)) report(call, [`${error.code} is none of its errors`]);
      throw error;
    });
    const faults = listFaults(call, response);
    if (faults.length > 0) report(call, faults);
    return response;
  };
}

/** True if an endpoint declares this error. Endpoints of other services' APIs have errors of their own. */
function namesError({ endpoint }: Call, { code }: ApiError): boolean {
  return !ENDPOINTS.has(endpoint) || listErrors(endpoint).includes(code);
}

function report({ endpoint: { method, path } }: Call, faults: readonly string[]): never {
  const text = `The answer of ${method} ${path} is not what the contract says: ${faults.slice(0, 5).join("; ")}`;
  console.error(text);
  throw new Error(text);
}

function listFaults({ endpoint }: Call, { status, headers, body }: AnyResponse): string[] {
  const sent = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
  const isJson = sent.get("content-type")?.startsWith("application/json") && !sent.has("content-encoding");
  if (!isJson || status >= 300 || isStreamed(body) || body.length > MAX_CHECKED) return [];
  const answer: unknown = JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString());
  const parsed = endpoint.output.safeParse(answer);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  return [...listUnknown(answer, parsed.data, ""), ...listEventFaults(endpoint, answer)];
}

/**
 * The faults in the data of events, which endpoints do not validate: each type has the fields of EventData and no others. Tests may record
 * events with less.
 */
function listEventFaults(endpoint: Endpoint, answer: unknown): string[] {
  if (endpoint !== contract.events.list && endpoint !== contract.events.get) return [];
  const events = (endpoint === contract.events.list ? (answer as { data: unknown[] }).data : [answer]) as {
    type: EventType;
    data: unknown;
  }[];
  return events.flatMap(({ type, data }) => {
    const { error } = EventData.shape[type].partial().strict().safeParse(data);
    return error ? error.issues.map(({ path, message }) => `data of ${type}: ${path.join(".")}: ${message}`) : [];
  });
}

/** The keys that reading by a schema has left out. */
function listUnknown(given: unknown, known: unknown, path: string): string[] {
  if (typeof given !== "object" || given === null || typeof known !== "object" || known === null) return [];
  return Object.entries(given).flatMap(([key, value]) =>
    key in known ? listUnknown(value, (known as Record<string, unknown>)[key], `${path}${key}.`) : [`${path}${key} is not in it`],
  );
}

checkAnswers(Performer.prototype);
