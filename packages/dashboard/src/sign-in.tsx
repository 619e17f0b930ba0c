/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import type { RequestError } from "./api/request-error.ts";
import { signIn } from "./api/sign-in.ts";
import { CodeBlock } from "./parts/code-block.tsx";
import { ErrorNote } from "./parts/error-note.tsx";
import { useSending } from "./parts/sending.ts";

interface Props {
  /** Reason the link that led here does not sign in. */
  readonly refusal: RequestError | null;
}

/** Signing in: by a link, or by an API key. */
export function SignIn({ refusal }: Props) {
  const [apiKey, setApiKey] = useState("");
  const { busy, error, send } = useSending();
  const shown = error ?? (busy ? null : refusal);
  return (
    <main class="alone sign-in">
      <h1>Sign in to mailsvc</h1>
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
      {shown === null ? null : <ErrorNote error={shown} />}
    </main>
  );
}
