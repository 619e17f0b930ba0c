import { CliError, cancelledError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { safeText } from "../text/safe-text.ts";
import type { Host, Session } from "../types.ts";

// Seconds that a service may ask for are taken as they are, up to this.
const MAX_WAIT_MS = 120_000;
const FIRST_WAIT_MS = 500;
const TRIES = 8;
// Until the first answer a wrong address or a missing network is more likely than a service that restarts.
const FIRST_TRIES = 3;
// Time for one answer: a page of people with their fields is made from a large database.
const ANSWER_MS = 60_000;

/** A former service, read over HTTP. */
export class Service {
  readonly #session: Session;
  readonly #name: string;
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;
  #tries = FIRST_TRIES;

  constructor(session: Session, { name, base, headers }: { name: string; base: URL; headers: Readonly<Record<string, string>> }) {
    this.#session = session;
    this.#name = name;
    this.#base = base;
    this.#headers = headers;
  }

  /** Reads JSON. Waits as long as a 429 says, and repeats what failed for the moment. Throws CliError. */
  async get<T>(path: string, query: Readonly<Record<string, string | number>> = {}): Promise<T> {
    const url = new URL(`${this.#base.pathname.replace(/\/+$/, "")}${path}`, this.#base);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    for (let tries = 1; ; tries += 1) {
      if (this.#session.signal.aborted) throw cancelledError();
      const answer = await this.#ask(url);
      if (answer.kind === "read") {
        this.#tries = TRIES;
        return answer.data as T;
      }
      if (answer.status !== null) this.#tries = TRIES;
      if (answer.kind === "refused" || tries >= this.#tries) throw this.#explain(url, answer);
      await this.#session.host.sleep(answer.waitMs ?? FIRST_WAIT_MS * 2 ** (tries - 1), this.#session.signal);
    }
  }

  async #ask(url: URL): Promise<Answer> {
    const { host, signal } = this.#session;
    let response: Response;
    let text: string;
    try {
      response = await fetchFrom(host, url, { headers: this.#headers, signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]) });
      text = await response.text();
    } catch (error) {
      if (signal.aborted) throw cancelledError();
      return { kind: "again", status: null, message: readReason(error), waitMs: null };
    }
    const { status } = response;
    if (status === 429 || status >= 500)
      return { kind: "again", status, message: readMessage(text), waitMs: readWait(response.headers, host.now()) };
    if (!response.ok) return { kind: "refused", status, message: readMessage(text) };
    try {
      return { kind: "read", data: JSON.parse(text) };
    } catch {
      return { kind: "refused", status, message: "It does not answer with JSON. Is this the address of its API?" };
    }
  }

  #explain(url: URL, { status, message }: Exclude<Answer, { kind: "read" }>): CliError {
    const place = `${this.#name}, ${safeText(url.pathname)}`;
    if (status === null)
      return new CliError({ code: "connection_failed", message: `${place}: ${message}`, exit: EXIT.network, retryable: true });
    const exit =
      status === 401
        ? EXIT.auth
        : status === 403
          ? EXIT.forbidden
          : status === 429
            ? EXIT.rateLimit
            : status >= 500
              ? EXIT.server
              : EXIT.notFound;
    const hint =
      status === 401 || status === 403
        ? "The former service does not let this key read it. docs/moving says which permissions it needs."
        : "Nothing is lost: run the same command again.";
    return new CliError({ code: "source_failed", message: `${place} answered ${status}: ${message}`, exit, hint });
  }
}

type Answer =
  | { kind: "read"; data: unknown }
  | { kind: "refused"; status: number; message: string }
  | { kind: "again"; status: number | null; message: string; waitMs: number | null };

/** The program's own fetch goes through a proxy where the environment names one. */
function fetchFrom(host: Host, url: URL, init: RequestInit): Promise<Response> {
  return (host.fetch ?? globalThis.fetch)(url, init);
}

/** The time that `Retry-After` asks to wait, or the end of the window of `RateLimit-Reset`; null without either. */
function readWait(headers: Headers, now: number): number | null {
  const given = headers.get("retry-after") ?? headers.get("ratelimit-reset");
  if (given === null) return null;
  const ms = /^\d+(?:\.\d+)?$/.test(given.trim()) ? Number(given) * 1000 : Date.parse(given) - now;
  return Number.isFinite(ms) ? Math.min(MAX_WAIT_MS, Math.max(0, ms)) : null;
}

function readMessage(text: string): string {
  let message: unknown;
  try {
    message = (JSON.parse(text) as { message?: unknown }).message;
  } catch {
    message = text;
  }
  return safeText(String(message ?? "no reason given").slice(0, 300)) || "no reason given";
}

function readReason(error: unknown): string {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return safeText(cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error)));
}
