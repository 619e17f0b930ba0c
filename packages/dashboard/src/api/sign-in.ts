import { request } from "./request.ts";
import { RequestError } from "./request-error.ts";
import { hasEnded, type Session, session } from "./session.ts";

const CHOSEN = "mailsvc.workspace";

const CHANNEL = "mailsvc.session";
type Change = "in" | "out";

/** Signs this tab in and out with the others of the browser: they share its cookie, and so the session. Returns how to stop that. */
export function followTabs(): () => void {
  const tabs = new BroadcastChannel(CHANNEL);
  tabs.onmessage = ({ data }: MessageEvent<Change>) => {
    if (data === "out") session.value = null;
    else loadSession().catch(() => {});
  };
  return () => tabs.close();
}

function tellTabs(change: Change): void {
  const tabs = new BroadcastChannel(CHANNEL);
  tabs.postMessage(change);
  tabs.close();
}

/** Finds out who is signed in. Throws RequestError when the server cannot say it. */
export async function loadSession(workspaceId = localStorage.getItem(CHOSEN)): Promise<void> {
  const query = workspaceId === null ? "" : `?workspace=${encodeURIComponent(workspaceId)}`;
  const before = session.peek();
  try {
    const current = (await (await request(`/dashboard/session${query}`)).json()) as Session;
    if (JSON.stringify(current) !== JSON.stringify(session.peek())) session.value = current;
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 401) throw error;
    // Another request may have begun a session since the question was asked.
    if (session.peek() !== before) return;
    if (before) hasEnded.value = true;
    session.value = null;
  }
}

/** Looks at another workspace; outside of dev mode under another session. Throws RequestError. */
export async function chooseWorkspace(id: string): Promise<void> {
  if (!session.peek()?.dev) return begin((await (await post("/dashboard/workspace", { workspaceId: id })).json()) as Session);
  localStorage.setItem(CHOSEN, id);
  await loadSession(id);
}

/**
 * Signs in by the token of a link, where one led here, and finds out who is signed in. Answers why the link was refused, or null. Throws
 * RequestError when the server cannot say it; then the link may still work.
 */
export async function enter(token: string | null): Promise<RequestError | null> {
  let refusal: RequestError | null = null;
  if (token !== null) {
    try {
      // Pages of the old session would go on sending requests, which the server refuses once the session is replaced.
      session.value = undefined;
      await signIn({ token });
      return null;
    } catch (error) {
      if (!(error instanceof RequestError) || error.status === 0 || error.status >= 500) throw error;
      refusal = error;
    }
  }
  await loadSession();
  return refusal;
}

/** Begins a session with the token of a link, or an API key. Throws RequestError. */
export async function signIn(by: { readonly token: string } | { readonly apiKey: string }): Promise<void> {
  begin((await (await post("/dashboard/sign-in", by)).json()) as Session);
}

/** Ways to sign in besides a link that somebody passes on, and an API key. */
export interface SignInOptions {
  /** True if members can ask for a link by mail. */
  readonly mail: boolean;
  /** The host of the provider that signs people in; null without one. */
  readonly provider: string | null;
}

/** Finds out how people sign in here. Throws RequestError. */
export async function loadSignInOptions(): Promise<SignInOptions> {
  return (await (await request("/dashboard/sign-in-options")).json()) as SignInOptions;
}

/** Asks for a mail with a link. Whether the address is that of a member is not told. Throws RequestError. */
export async function askForLink(email: string): Promise<void> {
  await post("/dashboard/sign-in-mail", { email });
}

/** Finds out whom a mailed link signs in. Throws RequestError for one that does not work. */
export async function readMailedLink(token: string): Promise<{ email: string; name: string | null; workspace: string }> {
  return (await post("/dashboard/mailed-link", { token })).json() as Promise<{ email: string; name: string | null; workspace: string }>;
}

/** Gives this session the rights of the operator key. Throws RequestError. */
export async function becomeOperator(operatorKey: string): Promise<void> {
  begin((await (await post("/dashboard/operator", { operatorKey })).json()) as Session);
}

/** Ends this session, or all of this person. */
export async function signOut(everywhere: boolean): Promise<void> {
  await post("/dashboard/sign-out", { everywhere });
  session.value = null;
  hasEnded.value = false;
  tellTabs("out");
}

function begin(current: Session): void {
  session.value = current;
  hasEnded.value = false;
  tellTabs("in");
}

function post(path: string, body: object): Promise<Response> {
  return request(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
}
