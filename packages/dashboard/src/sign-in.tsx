/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import type { RequestError } from "./api/request-error.ts";
import { hasEnded, session } from "./api/session.ts";
import { askForLink, loadSignInOptions, readMailedLink, type SignInOptions, signIn } from "./api/sign-in.ts";
import { CodeBlock } from "./parts/code-block.tsx";
import { Loading } from "./parts/empty.tsx";
import { ErrorNote } from "./parts/error-note.tsx";
import { useResource } from "./parts/resource.ts";
import { useSending } from "./parts/sending.ts";
import { forgetArrival } from "./sign-in-link.ts";

/** Reasons why the provider signed somebody in and the server did not, by their names in the address. */
const PROBLEMS: Readonly<Record<string, string>> = {
  "not-invited": "You are not invited to this server. Ask an owner of the workspace to invite your address.",
  "not-verified": "Your account has no address that the provider has verified. Verify it there, then sign in again.",
  "other-account": "This address belonged to another account before. An owner has to remove you and invite you again.",
  "too-late": "The sign-in took too long, or began in another browser. Sign in again.",
};
const FAILED = "The sign-in did not succeed. Try again; the server's log says why.";

interface Props {
  /** Reason the link that led here does not sign in. */
  readonly refusal: RequestError | null;
  /** Name of the reason why a provider's sign-in failed. */
  readonly problem: string | null;
}

/** Signing in: by a link that is mailed, at the provider, by a link of an owner, or by an API key. */
export function SignIn({ refusal, problem }: Props) {
  const [options, setOptions] = useState<SignInOptions | null>(null);
  useEffect(() => {
    loadSignInOptions().then(setOptions, () => setOptions({ mail: false, provider: null }));
  }, []);
  if (options === null) return <Loading />;
  const others = options.mail || options.provider !== null;
  return (
    <main class="alone sign-in">
      <h1>Sign in to mailsvc</h1>
      {problem === null ? null : (
        <p class="note bad" role="alert">
          {PROBLEMS[problem] ?? FAILED}
        </p>
      )}
      {refusal === null ? null : <ErrorNote error={refusal} />}
      {hasEnded.value ? (
        <p class="note" role="status">
          Your session has ended: it was too old, or somebody ended it elsewhere. Sign in again to go on.
        </p>
      ) : null}
      {options.provider === null ? null : (
        <a
          class="button primary"
          href={`/dashboard/provider?back=${encodeURIComponent(location.pathname + location.search)}`}
          target="_self"
        >
          Continue with {options.provider}
        </a>
      )}
      {options.mail ? <ByMail /> : null}
      {others ? (
        <details class="more">
          <summary>Other ways</summary>
          <ByKey />
        </details>
      ) : (
        <ByKey />
      )}
    </main>
  );
}

/** Asks for a link by mail. The answer is the same for every address. */
function ByMail() {
  const [email, setEmail] = useState("");
  const [asked, setAsked] = useState<string | null>(null);
  const { busy, error, send } = useSending();
  if (asked !== null)
    return (
      <section role="status">
        <p>
          If <strong>{asked}</strong> is invited here, a link is on its way. It works once, within 15 minutes.
        </p>
        <button type="button" onClick={() => setAsked(null)}>
          Use another address
        </button>
      </section>
    );
  const ask = async (): Promise<void> => {
    await askForLink(email.trim());
    setAsked(email.trim());
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send(ask);
      }}
    >
      <label class="field">
        Email address
        <input
          type="email"
          name="email"
          required
          autocomplete="email"
          value={email}
          onInput={({ currentTarget }) => setEmail(currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={busy}>
        Send me a link
      </button>
      {error === null ? null : <ErrorNote error={error} />}
    </form>
  );
}

/** Signing in by what a terminal gives: a link, or an API key. */
function ByKey() {
  const [apiKey, setApiKey] = useState("");
  const { busy, error, send } = useSending();
  return (
    <>
      <p>Make a link in a terminal that knows your API key, and open it here. It works once.</p>
      <CodeBlock code="mailsvc open" label="The command that makes a link" />
      <p class="or soft">or</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send(() => signIn({ apiKey }));
        }}
      >
        <label class="field">
          API key
          <input
            type="password"
            name="apiKey"
            required
            autocomplete="off"
            spellcheck={false}
            placeholder="ms_live_…"
            value={apiKey}
            onInput={({ currentTarget }) => setApiKey(currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={busy}>
          Sign in
        </button>
      </form>
      {error === null ? null : <ErrorNote error={error} />}
    </>
  );
}

/** Asks before a mailed link signs anybody in: mail scanners open links, and others may have sent theirs. */
export function MailedLink({ token }: { readonly token: string }) {
  const { data, error } = useResource(() => readMailedLink(token), [token]);
  const { busy, error: refusal, send } = useSending();
  const before = session.value;
  const enter = async (): Promise<void> => {
    await signIn({ token });
    forgetArrival();
  };
  const fault = refusal ?? error;
  if (data === null && fault === null) return <Loading />;
  return (
    <main class="alone sign-in">
      {data === null ? <h1>Sign in to mailsvc</h1> : <h1>Sign in to {data.workspace}</h1>}
      {fault === null ? null : <ErrorNote error={fault} />}
      {data === null || refusal !== null ? null : (
        <>
          <p>
            You sign in as <strong>{data.name === null ? data.email : `${data.name} (${data.email})`}</strong>.
            {before && !before.dev ? " This signs you out of your current session." : null}
          </p>
          <button type="button" class="primary" disabled={busy} onClick={() => void send(enter)}>
            Sign in
          </button>
        </>
      )}
      <button type="button" onClick={forgetArrival}>
        {before ? "Stay as you are" : "Sign in otherwise"}
      </button>
    </main>
  );
}
