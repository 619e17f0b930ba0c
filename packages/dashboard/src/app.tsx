/** @jsxImportSource preact */
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "./api/client.ts";
import { LiveEvents } from "./api/live.ts";
import { asRequestError, type RequestError } from "./api/request-error.ts";
import { may, mayOperate, session } from "./api/session.ts";
import { enter, followTabs, loadSession } from "./api/sign-in.ts";
import { Empty, Loading } from "./parts/empty.tsx";
import { ErrorNote } from "./parts/error-note.tsx";
import { Live } from "./parts/resource.ts";
import { useReturn } from "./parts/return.ts";
import { learnTime } from "./parts/time.tsx";
import { Toast, toast } from "./parts/toast.tsx";
import { followLinks, go, Pages, path } from "./router.tsx";
import { findNeed, NAVIGATION, ROUTES } from "./routes.ts";
import { Shell } from "./shell.tsx";
import { MailedLink, SignIn } from "./sign-in.tsx";
import { arrival, followLink } from "./sign-in-link.ts";

const LISTED = NAVIGATION.flatMap(({ entries }) => entries.map((entry) => entry.path));

function maySee(at: string): boolean {
  const need = findNeed(at);
  return need === null || (need === "operator" ? mayOperate() : may(need));
}

/** Stands in for a page that the role of the person does not include. */
function Denied() {
  return (
    <div class="page">
      <Empty title="Your role does not include this page" isPage>
        {findNeed(path.value) === "operator" ? (
          <p>It is about the whole server. An owner gives the operator key in the menu of their name, by “Operate the server”.</p>
        ) : (
          <p>Ask an owner of this workspace.</p>
        )}
      </Empty>
    </div>
  );
}

/** The whole dashboard: the person signs in, or is signed in already and sees the page of the address. */
export function App() {
  const [error, setError] = useState<RequestError | null>(null);
  const [refusal, setRefusal] = useState<RequestError | null>(null);
  const current = session.value;
  const workspaceId = current?.workspace.id ?? null;
  const { token, mailed, problem } = arrival.value;
  const start = (): void => {
    setError(null);
    setRefusal(null);
    enter(token).then(
      (refused) => {
        if (refused === null || !session.peek()) setRefusal(refused);
        else toast(refused.message, { bad: true });
      },
      (cause: unknown) => setError(asRequestError(cause)),
    );
  };
  useEffect(start, [token]);
  useEffect(followLink, []);
  useEffect(followTabs, []);
  // The role of a person may have changed, or the session ended.
  useReturn(async () => {
    if (session.peek() && !session.peek()?.dev) await loadSession();
  });
  // In dev mode the clock can be moved, so that ages are not those of this machine.
  const dev = current?.dev ?? false;
  useEffect(() => {
    if (dev)
      api.clock
        .show()
        .then(({ now }) => learnTime(now))
        .catch(() => {});
  }, [dev]);
  useEffect(() => {
    document.addEventListener("click", followLinks);
    return () => document.removeEventListener("click", followLinks);
  }, []);
  const live = useMemo(() => (workspaceId === null ? null : new LiveEvents(workspaceId)), [workspaceId]);
  useEffect(() => () => live?.close(), [live]);
  const atStart = path.value === "/";
  useEffect(() => {
    if (current && atStart) go(LISTED.find(maySee) ?? "/activity", { replace: true });
  }, [current, atStart]);

  if (error !== null)
    return (
      <main class="alone">
        <ErrorNote error={error} retry={start} />
      </main>
    );
  if (current === undefined) return <Loading />;
  if (mailed !== null) return <MailedLink token={mailed} />;
  if (current === null) return <SignIn refusal={refusal} problem={problem} />;
  return (
    <Live.Provider value={live}>
      <Shell session={current}>{maySee(path.value) ? <Pages key={workspaceId} routes={ROUTES} /> : <Denied />}</Shell>
      <Toast />
    </Live.Provider>
  );
}
