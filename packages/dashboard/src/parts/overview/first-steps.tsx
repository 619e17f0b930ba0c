/** @jsxImportSource preact */
import { may } from "../../api/session.ts";
import { toHref } from "../../router.tsx";
import { CodeBlock } from "../code-block.tsx";

const SEND = 'npx mailsvc send --from hello@acme.example --to ada@example.com --subject Hello --text "It works."';

/** Three steps for a server without mail. */
export function FirstSteps() {
  return (
    <ol class="first-steps">
      <li class="card">
        <h2>Send a first mail</h2>
        <p>From a terminal, or with the API from your program. It shows up under Activity at once.</p>
        <CodeBlock code={SEND} label="Command that sends a mail" />
      </li>
      <li class="card">
        <h2>Verify your domain</h2>
        <p>Publish one DNS record, so that mail may leave from your own address.</p>
        {may("senders:read") ? <a href={toHref("/senders")}>Add a sender</a> : null}
      </li>
      <li class="card">
        <h2>Bring your contacts</h2>
        <p>Import a CSV file, then write to them with a campaign.</p>
        {may("contacts:read") ? <a href={toHref("/contacts/import")}>Import contacts</a> : null}
      </li>
    </ol>
  );
}
