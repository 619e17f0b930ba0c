import type { EndpointFacts } from "../../../sdk/src/endpoint-facts.ts";
import { ENDPOINTS } from "../../../sdk/src/endpoints.generated.ts";
import type { MailsvcMethods } from "../../../sdk/src/methods.generated.ts";
import type { Page } from "../../../sdk/src/types.generated.ts";
import { RequestError, toRequestError } from "./request-error.ts";
import { workspaceHeaders } from "./session.ts";

/** A page of a list, without the methods that the SDK adds. */
type Plain<T> = T extends { data: (infer Item)[]; getNextPage: unknown } ? Page<Item> : T;

type Method<F> = F extends (...args: infer Args) => PromiseLike<infer Result> ? (...args: Args) => Promise<Plain<Result>> : never;

/** Every endpoint of the contract as a method, with the arguments that the SDK's has; the last one may hold a `signal`. */
type Api = {
  readonly [Noun in keyof MailsvcMethods]: {
    readonly [Verb in keyof MailsvcMethods[Noun]]: Method<MailsvcMethods[Noun][Verb]>;
  };
};

type Fields = Readonly<Record<string, unknown>>;
type Options = { readonly signal?: AbortSignal; readonly idempotencyKey?: string };

/** The client of the API, made from the table of its endpoints. Its methods throw RequestError. */
export const api = Object.fromEntries(
  Object.entries(ENDPOINTS).map(([noun, verbs]) => [
    noun,
    Object.fromEntries(Object.entries(verbs).map(([verb, facts]) => [verb, (...args: readonly unknown[]) => call(facts, args)])),
  ]),
) as Api;

async function call(facts: EndpointFacts, args: readonly unknown[]): Promise<unknown> {
  const count = facts.path.split("/:").length - 1;
  const takesInput = facts.query !== undefined || facts.body === true;
  const fields = ((takesInput ? args[count] : undefined) ?? {}) as Fields;
  const { signal, idempotencyKey } = (args[takesInput ? count + 1 : count] ?? {}) as Options;
  const inQuery = (name: string): boolean => !facts.body || (Array.isArray(facts.query) && facts.query.includes(name));
  const entries = Object.entries(fields);
  const query = buildQuery(entries.filter(([name]) => inQuery(name)));
  const body = facts.body ? JSON.stringify(Object.fromEntries(entries.filter(([name]) => !inQuery(name)))) : undefined;
  const response = await send(buildPath(facts.path, args.slice(0, count)) + query, {
    method: facts.method,
    ...(signal && { signal }),
    ...(body !== undefined && { body }),
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    },
  });
  if (facts.binary) return new Uint8Array(await response.arrayBuffer());
  return facts.produces === undefined ? response.json() : response.text();
}

/** Sends a request with the rights of the session. Throws RequestError for everything but 2xx. */
export async function send(
  path: string,
  init: RequestInit & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  const headers = { accept: "application/json, */*;q=0.5", ...workspaceHeaders(), ...init.headers };
  const response = await fetch(path, { ...init, headers, credentials: "same-origin" }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw new RequestError({
      code: "unreachable",
      message: "The server does not answer.",
      hint: "It may be starting. Try again in a moment.",
    });
  });
  if (!response.ok) throw await toRequestError(response);
  return response;
}

function buildPath(path: string, values: readonly unknown[]): string {
  let at = 0;
  return path.replace(/:([A-Za-z]+)/g, () => encodeURIComponent(String(values[at++])));
}

function buildQuery(entries: readonly (readonly [string, unknown])[]): string {
  const query = new URLSearchParams();
  for (const [name, value] of entries)
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null && one !== "") query.append(name, String(one));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
