/** @jsxImportSource preact */
import type { WebhookTest } from "@mailsvc/sdk/contract";

/** Answer of a webhook to test.ping, with a hint to fix it. */
export function TestAnswer({ test: { ok, httpStatus, ms, message, hint, answer, eventId, class: kind } }: { readonly test: WebhookTest }) {
  return (
    <section class={`card summary test-answer ${ok ? "good" : "bad"}`} role="status">
      <h2>{ok ? "The webhook took the test" : (message ?? "The webhook did not take the test")}</h2>
      {ok ? null : <p>{hint}</p>}
      <p class="soft">
        {httpStatus === null ? kind.replaceAll("_", " ") : `Status ${httpStatus}`} · {Math.round(ms)} ms · <code>{eventId}</code>
      </p>
      {answer ? (
        <pre class="answer" tabIndex={0} role="region" aria-label="The answer">
          {answer}
        </pre>
      ) : null}
    </section>
  );
}
