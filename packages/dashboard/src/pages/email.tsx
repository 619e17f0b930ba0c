/** @jsxImportSource preact */
import type { EmailDetail, Explanation } from "@mailsvc/sdk/contract";
import { toneOf } from "@mailsvc/sdk/contract/tones";
import { useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may, session } from "../api/session.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { Advice } from "../parts/advice.tsx";
import { CodeBlock } from "../parts/code-block.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Loading } from "../parts/empty.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Facts } from "../parts/facts.tsx";
import { LinkedText } from "../parts/linked-text.tsx";
import { LintFindings } from "../parts/lint-findings.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { MailFrame } from "../parts/mail-frame.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { formatReplyTo } from "../parts/reply-to.ts";
import { useEvents, useResource } from "../parts/resource.ts";
import { EmailState } from "../parts/states.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { formatBytes, learnTime, serverNow, Time } from "../parts/time.tsx";
import { Timeline } from "../parts/timeline.tsx";
import { toast } from "../parts/toast.tsx";
import { type PageProps, toHref } from "../router.tsx";
import { Replies } from "./email/replies.tsx";
import { Simulate } from "./email/simulate.tsx";
import { EmailWebhooks } from "./email/webhooks.tsx";

const KINDS = { to: "To", cc: "Cc", bcc: "Bcc" } as const;

/** One email: what happened to it in words, its content, its recipients. */
export default function EmailPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const email = useResource((signal) => api.emails.get(id, { signal }), [id]);
  const explanation = useResource(
    async (signal) => {
      const answer = await api.explanations.get(id, {}, { signal });
      learnTime(answer.explainedAt);
      return answer;
    },
    [id],
  );
  const reload = (): void => {
    email.reload();
    explanation.reload();
  };
  useEvents(({ emailId }) => emailId === id, reload);
  const back = { href: toHref("/activity"), name: "Activity" };
  const { data, error } = email;
  if (data === null)
    return (
      <Page title="Email" back={back}>
        {error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />}
      </Page>
    );
  return (
    <Page
      title={data.subject || "(no subject)"}
      back={back}
      about={
        <>
          <EmailState status={data.status} /> to {data.to}
          {data.recipients.length > 1 ? ` and ${data.recipients.length - 1} more` : ""}
        </>
      }
      actions={
        may("transactional:send") && data.recipients.some(({ status }) => status === "queued" || status === "deferred") ? (
          <>
            {data.status === "queued" && data.scheduledAt !== null ? <SendNow id={id} done={reload} /> : null}
            <Cancel id={id} done={reload} />
          </>
        ) : null
      }
    >
      <div class="columns">
        <div class="column">
          <Content email={data} />
        </div>
        <aside class="column" aria-label="What happened">
          {explanation.data === null ? (
            explanation.error === null ? (
              <Loading />
            ) : (
              <ErrorNote error={explanation.error} />
            )
          ) : (
            <Why explanation={explanation.data} done={reload} />
          )}
          {session.value?.dev && data.recipients.some(({ status }) => status === "delivered") ? <Simulate email={data} /> : null}
          {may("received:read") ? <Replies id={id} /> : null}
          <section class="card">
            <h2>Details</h2>
            <Facts facts={listFacts(data)} />
          </section>
        </aside>
      </div>
    </Page>
  );
}

function SendNow({ id, done }: { readonly id: string; readonly done: () => void }) {
  const act = async (): Promise<void> => {
    await api.emails.reschedule(id, { scheduledAt: new Date(serverNow()).toISOString() });
    toast("It is sent now");
    done();
  };
  return <ActionButton label="Send now" act={act} />;
}

function Cancel({ id, done }: { readonly id: string; readonly done: () => void }) {
  const act = async (): Promise<void> => {
    await api.emails.cancel(id);
    toast("Cancelled");
    done();
  };
  return (
    <ConfirmButton label="Cancel the email" question="Cancel this email?" danger act={act}>
      <p>It is not sent to those it has not been sent to yet. This cannot be undone.</p>
    </ConfirmButton>
  );
}

/** The state in words, what comes next, what a person can do, and the history. */
function Why({ explanation, done }: { readonly explanation: Explanation; readonly done: () => void }) {
  const { id, summary, status, next, actions, timeline, related } = explanation;
  const own = { id, words: "this email" };
  const planned = next === null ? [] : [{ at: next.at ?? "", what: next.what, tone: "busy", planned: true }];
  return (
    <>
      <section class={`card summary ${toneOf(status)}`}>
        <h2>{summary}</h2>
        <Advice actions={actions} done={done} />
      </section>
      <section class="card">
        <h2>Timeline</h2>
        <Timeline
          items={[
            ...timeline.map(({ at, what, why }) => ({
              at,
              what: <LinkedText text={what} own={own} />,
              why: why === null ? null : <LinkedText text={why} own={own} />,
              tone: toneOf(findState(what)),
            })),
            ...planned,
          ]}
        />
        {related.length === 0 ? null : (
          <p class="soft related">
            See also{" "}
            {related.map((other, i) => (
              <span key={other}>
                {i === 0 ? "" : ", "}
                <ObjectLink id={other} />
              </span>
            ))}
          </p>
        )}
      </section>
    </>
  );
}

function Content({ email }: { readonly email: EmailDetail }) {
  const first = email.html !== null ? "html" : email.text !== null ? "text" : "recipients";
  const [chosen, choose] = useState(first);
  const headers = Object.entries(email.headers);
  const tabs = [
    ...(email.html === null ? [] : [{ name: "html", label: "HTML" }]),
    ...(email.text === null ? [] : [{ name: "text", label: "Text" }]),
    { name: "recipients", label: "Recipients", count: email.recipients.length },
    ...(headers.length === 0 ? [] : [{ name: "headers", label: "Headers", count: headers.length }]),
    ...(email.attachments.length === 0 ? [] : [{ name: "files", label: "Attachments", count: email.attachments.length }]),
    ...(may("templates:read") && (email.html ?? email.text) !== null ? [{ name: "lint", label: "Problems" }] : []),
    ...(may("webhooks:read") ? [{ name: "webhooks", label: "Webhooks" }] : []),
    { name: "events", label: "Events", count: email.events.length },
  ];
  return (
    <Tabs label="The email" tabs={tabs} chosen={chosen} choose={choose}>
      {chosen === "html" ? <MailFrame path={`emails/${encodeURIComponent(email.id)}`} html={email.html ?? ""} /> : null}
      {chosen === "text" ? <pre class="text">{email.text}</pre> : null}
      {email.truncated && (chosen === "html" || chosen === "text") ? <p class="soft">It is longer than what is shown here.</p> : null}
      {email.truncated && (email.html ?? email.text) === null ? (
        <p class="soft">Its texts could not be read; the attached message has all of it.</p>
      ) : null}
      {chosen === "recipients" ? <Recipients email={email} /> : null}
      {chosen === "headers" ? <Facts facts={headers} /> : null}
      {chosen === "files" ? <Files files={email.attachments} /> : null}
      {chosen === "lint" ? <Lint id={email.id} /> : null}
      {chosen === "webhooks" ? <EmailWebhooks id={email.id} /> : null}
      {chosen === "events" ? <CodeBlock label="The events as JSON" code={JSON.stringify(email.events, null, 2)} /> : null}
    </Tabs>
  );
}

function Lint({ id }: { readonly id: string }) {
  const report = useResource((signal) => api.lint.check({ email: id }, { signal }), [id]);
  return <Loaded from={report}>{(data) => <LintFindings report={data} />}</Loaded>;
}

function Recipients({ email }: { readonly email: EmailDetail }) {
  return (
    <ul class="items">
      {email.recipients.map(({ id, email: address, name, kind, status, attempts, lastError, inDoubt, relay }) => (
        <li key={id}>
          <div class="what">
            <span>
              <span class="soft">{KINDS[kind]}</span> {name ? `${name} <${address}>` : address}
            </span>
            <EmailState status={status} />
          </div>
          <p class="soft">
            {attempts === 1 ? "1 attempt" : `${attempts} attempts`}
            {relay === null ? "" : ` · relay ${relay}`}
            {inDoubt ? " · may arrive twice" : ""}
          </p>
          {lastError === null ? null : <pre class="reply">{lastError.message}</pre>}
        </li>
      ))}
    </ul>
  );
}

function Files({ files }: { readonly files: EmailDetail["attachments"] }) {
  return (
    <ul class="items">
      {files.map(({ filename, contentType, size }, i) => (
        <li key={i}>
          {filename || "attachment"} <span class="soft">{`${contentType} · ${formatBytes(size)}`}</span>
        </li>
      ))}
    </ul>
  );
}

function listFacts(email: EmailDetail): (readonly [string, preact.ComponentChildren])[] {
  const tags = Object.entries(email.tags);
  return [
    ["From", email.from],
    ["Reply-To", formatReplyTo(email.replyTo)],
    ["Accepted", <Time key="accepted" at={email.createdAt} exactly />],
    ["Scheduled", email.scheduledAt && <Time key="scheduled" at={email.scheduledAt} exactly />],
    ["Next attempt", email.nextAttemptAt && <Time key="next" at={email.nextAttemptAt} exactly />],
    ["Template", email.template && `${email.template.slug}, version ${email.template.version}`],
    ["Campaign", email.campaignId && <ObjectLink key="campaign" id={email.campaignId} />],
    ["Contact", email.contactId && <ObjectLink key="contact" id={email.contactId} />],
    [
      "Tags",
      tags.length > 0 &&
        tags.map(([name, value]) => (
          <a key={name} class="tag" href={toHref(`/activity?tag=${encodeURIComponent(`${name}=${value}`)}`)}>{`${name}=${value}`}</a>
        )),
    ],
    ["Test", email.test ? "Sent with a test key" : null],
    ["Relay", email.relay],
    ["Email", <code key="id">{email.id}</code>],
    ["Message-ID", <code key="message">{email.messageId}</code>],
  ];
}

/** The state that a line of the history tells of: "Deferred by …" is deferred. */
function findState(what: string): string {
  const words = what.toLowerCase().split(/\W+/);
  return words.find((word) => toneOf(word) !== "plain") ?? "";
}
