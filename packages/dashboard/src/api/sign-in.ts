import { send } from "./client.ts";
import { RequestError } from "./request-error.ts";
import { type Session, session } from "./session.ts";

const CHOSEN = "mailsvc.workspace";

/** Finds out who is signed in. Throws RequestError when the server cannot say it. */
export async function loadSession(workspaceId = localStorage.getItem(CHOSEN)): Promise<void> {
  const query = workspaceId === null ? "" : `?workspace=${encodeURIComponent(workspaceId)}`;
  try {
    session.value = (await (await send(`/dashboard/session${query}`)).json()) as Session;
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 401) throw error;
    session.value = null;
  }
}

/** Looks at another workspace; dev mode only. */
export async function chooseWorkspace(id: string): Promise<void> {
  localStorage.setItem(CHOSEN, id);
  await loadSession(id);
}

/** Begins a session with the token of a link, or an API key. Throws RequestError. */
export async function signIn(by: { readonly token: string } | { readonly apiKey: string }): Promise<void> {
  session.value = (await (await post("/dashboard/sign-in", by)).json()) as Session;
}

/** Gives this session the rights of the operator key. Throws RequestError. */
export async function becomeOperator(operatorKey: string): Promise<void> {
  session.value = (await (await post("/dashboard/operator", { operatorKey })).json()) as Session;
}

/** Ends this session, or all of this person. */
export async function signOut(everywhere: boolean): Promise<void> {
  await post("/dashboard/sign-out", { everywhere });
  session.value = null;
}

function post(path: string, body: object): Promise<Response> {
  return send(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
}
