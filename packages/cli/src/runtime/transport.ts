import type { Mailsvc } from "@mailsvc/sdk";
import { buildForm } from "../contract/files.ts";
import type { Answer, Call, Session } from "../types.ts";
import { buildUrl } from "./request.ts";
import { safeText } from "./safe-text.ts";
/** Sends one call. Throws the SDK's errors when the response is not 2xx. */
export type Transport = (call: Call) => Promise<Answer>;

const MIN_ATTEMPT_MS = 15_000;

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
        ...(call.timeoutMs === undefined ? {} : { timeoutMs: call.timeoutMs, attemptTimeoutMs: call.timeoutMs }),
      });
      done(answer.status, answer.headers["x-request-id"]);
      return { status: answer.status, headers: answer.headers, data: answer.body, bytes: answer.bytes };
    } catch (error) {
      const failed = error as { status?: number; requestId?: string | null };
      if (typeof failed.status === "number") done(failed.status, failed.requestId);
      throw error;
    }
  };
}

/** Creates the SDK's client with the settings of a session. `silent` keeps retries from being told. */
export async function createClient(session: Session, silent: () => boolean = () => false): Promise<Mailsvc> {
  const { Mailsvc } = await import("@mailsvc/sdk");
  const { host, globals, out, term } = session;
  const settings = session.settings();
  const tell = createTeller(session);
  return new Mailsvc({
    baseUrl: settings.url,
    apiKey: settings.apiKey,
    timeoutMs: settings.timeoutMs,
    attemptTimeoutMs: Math.max(MIN_ATTEMPT_MS, settings.timeoutMs / 2),
    userAgent: `mailsvc-cli/${host.version}`,
    fetch: host.fetch,
    // Said without --verbose too: a failure that a retry hides is worth knowing. An import reports its own progress.
    onRetry: ({ error, delayMs }) => {
      const text = `retrying in ${Math.round(delayMs)} ms: ${safeText(error.message)}`;
      if (globals.verbose) tell(`~ ${text}`);
      else if (!silent() && !globals.json) out.note(term.err.dim(text));
    },
  });
}

function createTeller({ globals, out, term }: Session): (text: string) => void {
  return (text) => {
    if (globals.verbose) out.say(term.err.dim(safeText(text)));
  };
}
