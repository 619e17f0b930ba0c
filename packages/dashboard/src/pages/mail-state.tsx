/** @jsxImportSource preact */
import type { MailStateDetail } from "@mailsvc/sdk/contract";
import { toneOf } from "@mailsvc/sdk/contract/tones";
import { api } from "../api/client.ts";
import { ErrorNote } from "../parts/error-note.tsx";
import { Facts } from "../parts/facts.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { useRegularly, useResource } from "../parts/resource.ts";
import { EmailState } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { Timeline } from "../parts/timeline.tsx";
import { type PageProps, toHref } from "../router.tsx";

/** The state of one mail and its way, for support. */
export default function MailStatePage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const state = useResource((signal) => api.mailStates.get(id, { signal }), [id]);
  useRegularly(state.reload);
  return <Loaded from={state}>{(mail) => <State mail={mail} />}</Loaded>;
}

function State({ mail }: { readonly mail: MailStateDetail }) {
  const { to, status, from, template, lastError, attempts, inDoubt, events, recipients } = mail;
  return (
    <Page
      title={recipients.length > 1 ? `Mail to ${to} and ${recipients.length - 1} more` : `Mail to ${to}`}
      back={{ href: toHref("/mail-states"), name: "Mail states" }}
    >
      <div class="scroll">
        {lastError === null || status === "delivered" || status === "sent" ? null : (
          <ErrorNote title="The receiving server said" text={lastError.message} />
        )}
        <section class="card">
          <Facts
            facts={[
              ["State", <EmailState status={status} />],
              ["From", from],
              ["Template", template],
              ["Attempts", attempts],
              ["Accepted", <Time at={mail.createdAt} exactly />],
              ["Scheduled for", mail.scheduledAt && <Time at={mail.scheduledAt} exactly />],
              ["Next attempt", mail.nextAttemptAt && <Time at={mail.nextAttemptAt} exactly />],
              ["In doubt", inDoubt ? "Yes: it may arrive twice" : null],
            ]}
          />
        </section>
        {recipients.length > 1 ? (
          <section class="card">
            <h2>Recipients</h2>
            <ul class="items">
              {recipients.map((one) => (
                <li key={one.id}>
                  <div class="what">
                    <span>{one.email}</span> <Status status={one.status} />
                  </div>
                  {one.lastError === null ? null : <p class="soft">{one.lastError.message}</p>}
                </li>
              ))}
            </ul>
          </section>
        ) : null}
        <section class="card">
          <h2>What happened</h2>
          <Timeline
            items={events.map(({ type, at, email }) => ({
              at,
              what: `${type.slice(type.indexOf(".") + 1)}${recipients.length > 1 ? `: ${email}` : ""}`,
              tone: toneOf(type.slice(type.indexOf(".") + 1)),
            }))}
          />
        </section>
      </div>
    </Page>
  );
}
