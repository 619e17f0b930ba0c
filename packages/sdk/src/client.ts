import type { APIPromise } from "./api-promise.ts";
import { createCaller } from "./call/call-with-retries.ts";
import { createMethods } from "./endpoint-methods.ts";
import { ENDPOINTS } from "./endpoints.generated.ts";
import type { MailsvcMethods } from "./methods.generated.ts";
import { type MailsvcOptions, resolveSettings } from "./options.ts";
import { type RawRequest, type RawResponse, sendRawRequest } from "./raw-request.ts";
import { showAs } from "./runtime.ts";

interface ClientBase {
  /** The server's address, without a trailing slash. */
  readonly baseUrl: string;
  /** Sends any request by method and path, for endpoints newer than this package and for debugging. */
  request(method: string, path: string, request?: RawRequest): APIPromise<RawResponse>;
  /** A client with some options changed: another key, no retries, a longer time limit. */
  withOptions(options: MailsvcOptions): Mailsvc;
}

/** A client of the service: `client.<noun>.<verb>(...)` for every endpoint of the contract. */
export interface Mailsvc extends ClientBase, MailsvcMethods {}

class Client implements ClientBase {
  readonly baseUrl: string;
  readonly #options: MailsvcOptions;
  readonly #request: ClientBase["request"];

  constructor(options: MailsvcOptions = {}) {
    const settings = resolveSettings(options);
    const call = createCaller(settings);
    this.baseUrl = settings.baseUrl;
    this.#options = options;
    this.#request = (method, path, request = {}) => sendRawRequest(call, method, path, request);
    Object.assign(this, createMethods(ENDPOINTS, call, settings));
    showAs(this, () => `Mailsvc { baseUrl: ${JSON.stringify(this.baseUrl)} }`);
  }

  request(method: string, path: string, request?: RawRequest): APIPromise<RawResponse> {
    return this.#request(method, path, request);
  }

  withOptions(options: MailsvcOptions): Mailsvc {
    return new Mailsvc({ ...this.#options, ...options });
  }

  toJSON(): { baseUrl: string } {
    return { baseUrl: this.baseUrl };
  }
}

/**
 * Creates a client: `new Mailsvc({apiKey, baseUrl})`. Key and address default to MAILSVC_API_KEY and MAILSVC_URL, then to a
 * server on this machine. The first call opens the first connection. Throws UsageError when an option is invalid.
 */
export const Mailsvc = Client as unknown as new (options?: MailsvcOptions) => Mailsvc;

/** Creates a client without `new`. */
export function createClient(options?: MailsvcOptions): Mailsvc {
  return new Mailsvc(options);
}
