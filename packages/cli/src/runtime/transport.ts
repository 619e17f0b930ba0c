import type { Mailsvc } from "@mailsvc/sdk";
import { isLoopbackHost } from "@mailsvc/sdk/contract/facts";
import { safeText } from "../text/safe-text.ts";
import type { Answer, Call, Session } from "../types.ts";
import { CliError } from "./errors.ts";
import { EXIT } from "./exit.ts";
import { buildForm } from "./form.ts";
import { buildUrl } from "./request.ts";

/** Sends one call. Throws the SDK's errors when the response is not 2xx. */
export type Transport = (call: Call) => Promise<Answer>;

const MIN_ATTEMPT_MS = 15_000;
// A server that waits answers when its time is over; the request must last longer.
const WAIT_GRACE_MS = 10_000;

// An automation's rules nest deepest, 20 levels or so. Printing JSON recurses, and ends in a stack overflow at some 5,000.
const MAX_DEPTH = 500;

/** Connects a session to its server through the SDK. Loads the SDK lazily, because help and completion do not need it. */
export async function createTransport(session: Session): Promise<Transport> {
  const { host, signal } = session;
  const settings = session.settings();
  const tell = createTeller(session);
  let silentRetries = false;
  const client = await createClient(session, () => silentRetries);
  return async (call) => {
    silentRetries = call.retries !== undefined;
    const from = host.now();
    const limitMs = findLimit(call, settings.timeoutMs);
    const done = (status: number, id: string | null | undefined): void =>
      tell(`< ${status} ${id ?? "(no request id)"} ${host.now() - from} ms`);
    tell(`> ${call.method} ${buildUrl(settings.url, call)}`);
    try {
      const answer = await client.request(call.method, call.path, {
        query: call.query,
        body: call.file ? buildForm(call.file, call.body) : call.body,
        headers: call.headers,
        ...(call.untilDone ? {} : { signal }),
        ...(call.retries === undefined ? {} : { maxRetries: call.retries }),
        ...(limitMs === null ? {} : { timeoutMs: limitMs, attemptTimeoutMs: limitMs }),
      });
      done(answer.status, answer.headers["x-request-id"]);
      if (answer.headers["deprecation"] !== undefined) session.out.note(describeEnd(call, answer.headers["sunset"]));
      assertShallow(answer.body);
      return { status: answer.status, headers: answer.headers, data: answer.body, bytes: answer.bytes };
    } catch (error) {
      const failed = error as { status?: number; requestId?: string | null };
      if (typeof failed.status === "number") done(failed.status, failed.requestId);
      throw error;
    }
  };
}

/** Says that an operation will be gone. */
function describeEnd({ method, path }: Call, sunset: string | undefined): string {
  const when = sunset === undefined ? "" : ` and gone from ${safeText(sunset)}`;
  return `${method} ${safeText(path)} is deprecated${when}. The API reference says what to use instead.`;
}

/** The time limit of a call that has one of its own, ms; null for the client's. */
export function findLimit({ timeoutMs, waitSeconds }: Pick<Call, "timeoutMs" | "waitSeconds">, usualMs: number): number | null {
  return timeoutMs ?? (waitSeconds === undefined ? null : Math.max(usualMs, waitSeconds * 1000 + WAIT_GRACE_MS));
}

/** Creates the SDK's client with the settings of a session. `silent` keeps retries from being told; `retries` hears of them. */
export async function createClient(session: Session, silent: () => boolean = () => false, retries?: () => void): Promise<Mailsvc> {
  const { Mailsvc } = await import("@mailsvc/sdk");
  const { host, globals, out, term } = session;
  const settings = session.settings();
  const tell = createTeller(session);
  if (settings.apiKey !== undefined && isReadableOnTheWay(settings.url))
    out.say(
      `${term.err.yellow("warning")} The API key is sent to ${safeText(settings.url)} unencrypted: anybody on the way can read it. Use https://`,
    );
  return new Mailsvc({
    baseUrl: settings.url,
    apiKey: settings.apiKey,
    timeoutMs: settings.timeoutMs,
    attemptTimeoutMs: Math.max(MIN_ATTEMPT_MS, settings.timeoutMs / 2),
    userAgent: `mailsvc-cli/${host.version}`,
    // Through a proxy, requests go by undici, which costs 100 ms at the start.
    ...(usesProxy(host.env, settings.url) ? {} : { fetch: host.fetch }),
    // Said without --verbose too: a failure that a retry hides is worth knowing. An import reports its own progress.
    onRetry: ({ error, delayMs }) => {
      retries?.();
      const text = `retrying in ${Math.round(delayMs)} ms: ${safeText(error.message)}`;
      if (globals.verbose) tell(`~ ${text}`);
      else if (!silent() && !globals.json) out.note(term.err.dim(text));
    },
  });
}

/** Tells if the environment names a proxy for this address; NO_PROXY is read by the SDK. */
function usesProxy(env: Readonly<Record<string, string | undefined>>, url: string): boolean {
  const { hostname, protocol } = new URL(url);
  const name = protocol === "https:" ? "https_proxy" : "http_proxy";
  return Boolean(env[name] || env[name.toUpperCase()]) && !isLoopbackHost(hostname);
}

function createTeller({ globals, out, term }: Session): (text: string) => void {
  return (text) => {
    if (globals.verbose) out.say(term.err.dim(safeText(text)));
  };
}

/** Names and addresses of this machine and of private networks, such as those of containers. */
const PRIVATE =
  /^(?:localhost|[^.:]+|.+\.(?:localhost|local|internal|test)|(?:127|10)(?:\.\d+){3}|192\.168(?:\.\d+){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2}|\[(?:::1|f[cd][\da-f:]*)\])$/i;

/** True if requests to this address cross other networks without encryption. */
function isReadableOnTheWay(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !PRIVATE.test(hostname);
}

/** Throws CliError for a body that is nested so deeply that no mailsvc server sent it. */
function assertShallow(body: unknown): void {
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH)
      throw new CliError({
        code: "invalid_response",
        message: `The server's answer is nested more than ${MAX_DEPTH} levels deep.`,
        exit: EXIT.server,
        hint: "This is no answer of mailsvc. Check --url and any proxy in between.",
      });
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
}
