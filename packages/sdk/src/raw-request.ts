import { APIPromise } from "./api-promise.ts";
import type { Bytes } from "./call/binary.ts";
import type { CallWithRetries } from "./call/call-with-retries.ts";
import { readJson, readText } from "./call/response.ts";
import { buildQuery, toJsonBody } from "./call/url.ts";
import { UsageError } from "./errors.ts";
import type { CallOptions } from "./options.ts";
import { encodeForm } from "./upload.ts";

/** The query, body and options of a raw request. */
export interface RawRequest extends CallOptions {
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** Strings and bytes are sent unchanged, FormData as multipart/form-data, anything else as JSON. The content type is JSON unless `headers` set another. */
  readonly body?: unknown;
  /** False to return a response other than 2xx instead of throwing it. Default true. */
  readonly throwOnError?: boolean | undefined;
}

/** The response of a raw request. */
export interface RawResponse {
  readonly status: number;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed when the content type is JSON, otherwise text. */
  readonly body: unknown;
  /** The body as bytes. */
  readonly bytes: Uint8Array;
}

/** Sends a request to any path, with the key, retries, time limits and errors of the typed methods. */
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
      body: form?.body ?? (asIs ? (body as string | Bytes | undefined) : toJsonBody(body, label)),
      ...(form && { contentType: form.contentType }),
      accept: "application/json, */*;q=0.9",
      authorize: !open,
      keyed: !open,
      longPollMs: 0,
      options,
      returnErrors: !throwOnError,
      read: async (response, summary) => {
        const json = /^application\/(?:[\w.-]+\+)?json\b/.test(response.headers["content-type"] ?? "");
        const parsed = json && response.bytes.length > 0 ? readJson(response, summary) : readText(response);
        return { status: response.status, headers: response.headers, body: parsed, bytes: response.bytes };
      },
    });
  };
  return new APIPromise(send());
}
