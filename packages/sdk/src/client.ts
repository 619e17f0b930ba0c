import { contract, type MailsvcContract } from "./contract/index.ts";
import { createExchange } from "./exchange.ts";
import { groupsOf } from "./groups.ts";
import type { Methods } from "./methods.ts";
import { type MailsvcOptions, settingsOf } from "./options.ts";
import type { APIPromise } from "./promise.ts";
import { type RawRequest, type RawResponse, rawRequest } from "./raw.ts";

interface ClientBase {
  /** Where it sends to, without a slash at the end. */
  readonly baseUrl: string;
  /** Any request, by method and path: for endpoints newer than this package, and for looking closely. */
  request(method: string, path: string, request?: RawRequest): APIPromise<RawResponse>;
}

/** A client of the service: `client.<noun>.<verb>(...)` for every endpoint of the contract. */
export type Mailsvc = ClientBase & Methods<MailsvcContract>;

class Client implements ClientBase {
  readonly baseUrl: string;
  readonly #request: ClientBase["request"];

  constructor(options: MailsvcOptions = {}) {
    const settings = settingsOf(options);
    const exchange = createExchange(settings);
    this.baseUrl = settings.baseUrl;
    this.#request = (method, path, request = {}) => rawRequest(exchange, method, path, request);
    Object.assign(this, groupsOf(contract, exchange, settings));
  }

  request(method: string, path: string, request?: RawRequest): APIPromise<RawResponse> {
    return this.#request(method, path, request);
  }

  toJSON(): { baseUrl: string } {
    return { baseUrl: this.baseUrl };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Mailsvc { baseUrl: ${JSON.stringify(this.baseUrl)} }`;
  }
}

/**
 * The client: `new Mailsvc({apiKey, baseUrl})`. Key and address default to MAILSVC_API_KEY and MAILSVC_URL, then to a
 * server on this machine. It opens no connection before the first call. Throws UsageError when an option is wrong.
 */
export const Mailsvc = Client as unknown as new (options?: MailsvcOptions) => Mailsvc;

/** The same without `new`. */
export function createClient(options?: MailsvcOptions): Mailsvc {
  return new Mailsvc(options);
}
