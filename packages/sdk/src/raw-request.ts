import { APIPromise } from "./api-promise.ts";
import type { CallWithRetries } from "./call/call-with-retries.ts";
import { readJson, readText } from "./call/response.ts";
import { buildQuery, toJsonBody } from "./call/url.ts";
import { UsageError } from "./errors.ts";
import type { CallOptions } from "./options.ts";
import { encodeForm } from "./upload.ts";

/** What a raw request may carry. */
export interface RawRequest extends CallOptions {
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** A text or bytes go as they are, a FormData as multipart/form-data, anything else as JSON; the content type is JSON unless `headers` say otherwise. */
  readonly body?: unknown;
  /** With false, an answer that is not 2xx is returned instead of thrown. Default true. */
  readonly throwOnError?: boolean | undefined;
}

/** A raw answer. */
export interface RawResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed when the answer says it is JSON, a text otherwise. */
  readonly body: unknown;
  /** The body as it came. */
  readonly bytes: Uint8Array;
}

/** Makes a raw request: same key, retries, limits and errors as the methods, but any path. */
export function sendRawRequest(call: CallWithRetries, method: string, path: string, request: RawRequest): APIPromise<RawResponse> {
  const send = async () => {
    const { query = {}, body, throwOnError = true, ...options } = request;
    const verb = method.toUpperCase();
    const label = `${verb} ${path}`;
    if (!/^[A-Z]+$/.test(verb)) throw new UsageError({ message: "The method must be a word such as GET or POST." });
    if (!path.startsWith("/")) throw new UsageError({ message: "The path must begin with /; the server comes from baseUrl." });
    if (/[\s\\#]/.test(path)) throw new UsageError({ message: "The path must not hold spaces, line breaks, \\ or #; encode them." });
    const added = buildQuery(query, label);
    const form = body instanceof FormData ? await encodeForm(body) : undefined;
    const asIs = body === undefined || typeof body === "string" || body instanceof Uint8Array;
    const open = path.startsWith("/__dev/");
    return call<RawResponse>({
      method: verb,
      target: path.includes("?") ? path + added.replace("?", "&") : path + added,
      body: form?.body ?? (asIs ? (body as string | Uint8Array<ArrayBuffer> | undefined) : toJsonBody(body, label)),
      ...(form && { contentType: form.contentType }),
      accept: "application/json, */*;q=0.9",
      authorize: !open,
      keyed: !open,
      longPollMs: 0,
      options,
      returnErrors: !throwOnError,
      read: (answer, summary) => {
        const json = /^application\/(?:[\w.-]+\+)?json\b/.test(answer.headers["content-type"] ?? "");
        const parsed = json && answer.bytes.length > 0 ? readJson(answer, summary) : readText(answer);
        return { status: answer.status, headers: answer.headers, body: parsed, bytes: answer.bytes };
      },
    });
  };
  return new APIPromise(send());
}
