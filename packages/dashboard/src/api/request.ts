import { suspectOutage } from "./outage.ts";
import { RequestError, toRequestError } from "./request-error.ts";
import { workspaceHeaders } from "./session.ts";

export type RequestOptions = RequestInit & { readonly headers?: Readonly<Record<string, string>> };

/** Sends one request to the server. Throws RequestError for everything but 2xx. */
export async function request(path: string, init: RequestOptions = {}): Promise<Response> {
  const headers = { accept: "application/json, */*;q=0.5", ...workspaceHeaders(), ...init.headers };
  const response = await fetch(path, { ...init, headers, credentials: "same-origin" }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    suspectOutage();
    throw new RequestError({
      code: "unreachable",
      message: "The server does not answer.",
      hint: "It may be starting. Try again in a moment.",
    });
  });
  if (response.status === 502 || response.status === 504) suspectOutage();
  if (!response.ok) throw await toRequestError(response);
  return response;
}
