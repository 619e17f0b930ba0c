/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import { signIn } from "./api/sign-in.ts";
import { CodeBlock } from "./parts/code-block.tsx";
import { ErrorNote } from "./parts/error-note.tsx";
import { useSending } from "./parts/sending.ts";

/** Takes the token of a link out of the address, so that it stays neither in the history nor on the screen. */
function takeToken(): string | null {
  const token = location.hash.slice(1);
  if (token !== "") history.replaceState(null, "", location.pathname + location.search);
  return token === "" ? null : token;
}

/** Signing in: by the token of a link at once, or by an API key. */
export function SignIn() {
  const [apiKey, setApiKey] = useState("");
  const { busy, error, send } = useSending();
  const run = (by: Parameters<typeof signIn>[0]) => send(() => signIn(by));
  useEffect(() => {
    const token = takeToken();
    if (token !== null) void run({ token });
  }, []);
  return (
    <main class="alone sign-in">
      <h1>Sign in to mailsvc</h1>
      <p>Make a link in a terminal that knows your API key, and open it here. It works once.</p>
      <CodeBlock code="mailsvc open" label="The command that makes a link" />
      <p class="or soft">or</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run({ apiKey });
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
    </main>
  );
}
