import { type EndpointFacts, readEndpoints } from "../../../sdk/src/endpoint-facts.ts";
import { ENDPOINTS } from "../../../sdk/src/endpoints.generated.ts";
import type { MailsvcMethods } from "../../../sdk/src/methods.generated.ts";
import type { Page } from "../../../sdk/src/types.generated.ts";
import { type RequestOptions, request } from "./request.ts";
import { RequestError } from "./request-error.ts";
import { type Session, session } from "./session.ts";
import { loadSession } from "./sign-in.ts";

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
    Object.fromEntries(readEndpoints(verbs).map(([verb, facts]) => [verb, (...args: readonly unknown[]) => call(facts, args)])),
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

/**
 * Sends a request with the rights of the session. If the session has ended, another tab or a proxy that knows the person may have begun a
 * new one: then the request is sent again. Otherwise the person is signed out. Throws RequestError for everything but 2xx.
 */
export async function send(path: string, init: RequestOptions = {}): Promise<Response> {
  const before = session.peek();
  try {
    return await request(path, init);
  } catch (error) {
    if (!before || !(error instanceof RequestError) || error.status !== 401 || !(await isRenewed(before))) throw error;
    return request(path, init);
  }
}

let renewal: Promise<void> | null = null;

/** Asks who is signed in now. True for the same person in the same workspace. */
async function isRenewed(before: Session): Promise<boolean> {
  renewal ??= loadSession().finally(() => {
    renewal = null;
  });
  await renewal.catch(() => {});
  const current = session.peek();
  return current?.name === before.name && current.email === before.email && current.workspace.id === before.workspace.id;
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
