import type { Call } from "../src/http/call.ts";
import { Performer } from "../src/http/perform.ts";
import { type AnyResponse, isStreamed } from "../src/http/response.ts";

// Reading a longer answer again would take the time of a test.
const MAX_CHECKED = 500_000;

const CHECKED = Symbol.for("mailsvc.test.answers-in-contract");

/**
 * For all tests: a successful answer has what the contract says and nothing besides, on both databases. A row of a table that is passed on
 * as it is would show columns that nobody has promised.
 */
function checkAnswers(performer: Performer & { [CHECKED]?: true }): void {
  if (performer[CHECKED]) return;
  performer[CHECKED] = true;
  const { perform } = performer;
  performer.perform = async function (call) {
    const response = await perform.call(this, call);
    const faults = listFaults(call, response);
    if (faults.length === 0) return response;
    const { method, path } = call.endpoint;
    const text = `The answer of ${method} ${path} is not what the contract says: ${faults.slice(0, 5).join("; ")}`;
    console.error(text);
    throw new Error(text);
  };
}

function listFaults({ endpoint }: Call, { status, headers, body }: AnyResponse): string[] {
  const sent = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
  const isJson = sent.get("content-type")?.startsWith("application/json") && !sent.has("content-encoding");
  if (!isJson || status >= 300 || isStreamed(body) || body.length > MAX_CHECKED) return [];
  const answer: unknown = JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString());
  const parsed = endpoint.output.safeParse(answer);
  if (!parsed.success) return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  return listUnknown(answer, parsed.data, "");
}

/** The keys that reading by a schema has left out. */
function listUnknown(given: unknown, known: unknown, path: string): string[] {
  if (typeof given !== "object" || given === null || typeof known !== "object" || known === null) return [];
  return Object.entries(given).flatMap(([key, value]) =>
    key in known ? listUnknown(value, (known as Record<string, unknown>)[key], `${path}${key}.`) : [`${path}${key} is not in it`],
  );
}

checkAnswers(Performer.prototype);
