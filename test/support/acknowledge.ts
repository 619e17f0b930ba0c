import type { Api } from "./api.ts";

interface Request {
  /** Idempotency-Key, under which it takes effect once. */
  readonly key: string;
  readonly path: string;
  readonly body?: unknown;
  /** POST when absent. */
  readonly method?: "POST" | "PATCH" | "DELETE";
}

// Far more than an answer of a busy machine takes.
const ANSWER_MS = 15_000;
const PAUSE_MS = 50;

/** Makes a request, through restarts of its servers, until one acknowledges it. Returns the answer. Throws for a refusal. */
export async function acknowledge<T>(servers: { api(): Api }, { key, path, body, method = "POST" }: Request): Promise<T> {
  for (;;) {
    const { url, apiKey } = servers.api();
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          "idempotency-key": key,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const text = await response.text();
      if (response.ok) return JSON.parse(text) as T;
      if (response.status !== 503 && response.status !== 409) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    } catch (error) {
      if (!(error instanceof TypeError) && (error as Error).name !== "TimeoutError") throw error;
    }
    await new Promise((next) => setTimeout(next, PAUSE_MS));
  }
}
