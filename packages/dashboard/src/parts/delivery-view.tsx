/** @jsxImportSource preact */

import type { DeliveryAttempt } from "@mailsvc/sdk/contract";
import type { ComponentProps } from "preact";
import { CodeBlock } from "./code-block.tsx";
import { Facts } from "./facts.tsx";
import { Timeline } from "./timeline.tsx";

interface Props {
  /** The body of the request; null once its event is not kept any more. */
  readonly body: string | null;
  readonly log: readonly DeliveryAttempt[];
  readonly facts: ComponentProps<typeof Facts>["facts"];
}

/** A request to a webhook: its body, and beside it its attempts and facts. */
export function DeliveryView({ body, log, facts }: Props) {
  return (
    <div class="columns">
      <div class="column">
        {body === null ? (
          <p class="soft">The event is not kept any more.</p>
        ) : (
          <CodeBlock label="The body of the request" code={indent(body)} />
        )}
      </div>
      <aside class="column" aria-label="What happened">
        <section class="card">
          <h2>Attempts</h2>
          <Attempts log={log} />
        </section>
        <section class="card">
          <h2>Details</h2>
          <Facts facts={facts} />
        </section>
      </aside>
    </div>
  );
}

/** The attempts to deliver an event to a webhook, each with its answer. */
function Attempts({ log }: { readonly log: readonly DeliveryAttempt[] }) {
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

/** JSON with line breaks; another text as it is. */
function indent(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
