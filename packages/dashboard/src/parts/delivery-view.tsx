/** @jsxImportSource preact */
import type { ComponentProps } from "preact";
import { Attempts } from "./attempts.tsx";
import { CodeBlock } from "./code-block.tsx";
import { Facts } from "./facts.tsx";
import { indent } from "./indent.ts";

interface Props {
  /** The body of the request; null once its event is not kept any more. */
  readonly body: string | null;
  readonly log: ComponentProps<typeof Attempts>["log"];
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
