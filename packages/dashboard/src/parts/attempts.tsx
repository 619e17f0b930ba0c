/** @jsxImportSource preact */
import type { DeliveryAttempt } from "@mailsvc/sdk/contract";
import { Timeline } from "./timeline.tsx";

/** The attempts to deliver an event to a webhook, each with its answer. */
export function Attempts({ log }: { readonly log: readonly DeliveryAttempt[] }) {
  if (log.length === 0) return <p class="soft">Not tried yet.</p>;
  return (
    <Timeline
      items={log.map(({ at, attempt, class: kind, httpStatus, ms, message, hint, answer }) => ({
        at,
        what: `Attempt ${attempt}: ${httpStatus ?? kind.replaceAll("_", " ")}, ${Math.round(ms)} ms`,
        tone: kind === "ok" ? "good" : "bad",
        why: (
          <>
            {kind === "ok" ? null : (message ?? hint)}
            {answer ? <pre class="answer">{answer}</pre> : null}
          </>
        ),
      }))}
    />
  );
}
