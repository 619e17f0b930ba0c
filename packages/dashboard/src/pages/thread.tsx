/** @jsxImportSource preact */
import type { ReceivedMailDetail } from "@mailsvc/sdk/contract";
import { useRef, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { may } from "../api/session.ts";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { Facts } from "../parts/facts.tsx";
import { Field } from "../parts/field.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { ObjectLink } from "../parts/object-link.tsx";
import { Page } from "../parts/page.tsx";
import { OurMail, TheirMail } from "../parts/received/messages.tsx";
import { isOfThread, loadThread, type Thread } from "../parts/received/thread.ts";
import { nameSender } from "../parts/received/words.ts";
import { formatReplyTo } from "../parts/reply-to.ts";
import { useEvents, useResource } from "../parts/resource.ts";
import { useSending } from "../parts/sending.ts";
import { formatBytes } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { go, type PageProps, toHref } from "../router.tsx";

/** A conversation: theirs and ours in their order, and the answer. */
export default function ThreadPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const thread = useResource((signal) => loadThread(id, signal), [id]);
  const { data, reload } = thread;
  // Each reload asks for every mail of the conversation, so the events of other mail must not cause any.
  useEvents((event) => isOfThread(event, data), reload);
  return (
    <Page
      title={data === null ? "Conversation" : data.opened.subject || "(no subject)"}
      back={{ href: toHref("/received"), name: "Received" }}
      about={data === null ? null : <>with {nameSender(data.opened)}</>}
      actions={
        data === null ? null : (
          <>
            {may("marketplace:write") ? <PassOn key={data.opened.id} id={data.opened.id} text={data.opened.reply} /> : null}
            {may("received:write") ? <Delete mail={data.opened} /> : null}
          </>
        )
      }
    >
      <Loaded from={thread}>
        {(shown) => (
          <div class="columns content-first">
            <div class="column conversation">
              {shown.isLong ? <p class="soft">Older mails are left out.</p> : null}
              {shown.mails.map(({ theirs, ours }) =>
                theirs ? <TheirMail key={theirs.id} mail={theirs} /> : <OurMail key={ours.id} mail={ours} />,
              )}
              <Answer key={shown.opened.id} thread={shown} done={reload} />
            </div>
            <aside class="column" aria-label="About the mail">
              <section class="card">
                <h2>About the mail</h2>
                <Facts facts={listFacts(shown.opened)} />
              </section>
            </aside>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function listFacts({ from, to, replyTo, emailId, contactId, campaignId, threadId, id, size }: ReceivedMailDetail) {
  const link = (path: string, text: string) => (
    <a key={path} href={toHref(path)}>
      {text}
    </a>
  );
  return [
    ["From", from === null ? null : link(`/received?from=${encodeURIComponent(from)}`, from)],
    ["To", to],
    ["Replies go to", replyTo.every((one) => one === from) ? null : formatReplyTo(replyTo)],
    ["Answers", emailId && <ObjectLink key="email" id={emailId} />],
    ["Contact", contactId && <ObjectLink key="contact" id={contactId} />],
    ["Campaign", campaignId && <ObjectLink key="campaign" id={campaignId} />],
    ["Size", formatBytes(size)],
    ["Conversation", <code key="thread">{threadId}</code>],
    ["Id", <code key="id">{id}</code>],
  ] as const;
}

function Delete({ mail: { id } }: { readonly mail: ReceivedMailDetail }) {
  const act = async (): Promise<void> => {
    await api.received.delete(id);
    toast("Deleted");
    go("/received", { replace: true });
  };
  return (
    <ConfirmButton label="Delete" question="Delete this mail?" danger act={act}>
      <p>The mail and its files are deleted; the rest of the conversation stays.</p>
    </ConfirmButton>
  );
}

/** The answer to the newest mail of the conversation that a person wrote. */
function Answer({ thread: { mails }, done }: { readonly thread: Thread; readonly done: () => void }) {
  const [text, setText] = useState("");
  const sending = useSending();
  const { busy, error } = sending;
  const mail = mails.findLast(({ theirs }) => theirs && theirs.autoReply === null && theirs.replyTo.length > 0)?.theirs;
  if (!may("transactional:send")) return null;
  if (!mail) return <p class="soft">Mail by programs is not answered, so that two programs never write to each other.</p>;
  const recipients = formatReplyTo(mail.replyTo);
  const send = () =>
    sending.send(async () => {
      await api.received.reply(mail.id, { text });
      setText("");
      toast(`Sent to ${recipients}`);
      done();
    });
  return (
    <form
      class="form card"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Field label={`Answer ${nameSender(mail)}`} hint={`Goes to ${recipients}, into the same conversation.`}>
        <textarea rows={5} required value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </Field>
      {error === null ? null : <ErrorNote error={error} />}
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy || text.trim() === ""}>
          Send the answer
        </button>
      </div>
    </form>
  );
}

/** Passes a mail on to one of the agents that may read messages; nothing while there is none. */
function PassOn({ id, text }: { readonly id: string; readonly text: string }) {
  const { data } = useResource((signal) => api.activations.list({ limit: 100 }, { signal }), []);
  const [chosen, setChosen] = useState("");
  const select = useRef<HTMLSelectElement>(null);
  const agents = (data?.data ?? []).filter(({ status, scopes }) => status !== "deactivated" && scopes.includes("agent:read_messages"));
  const [first] = agents;
  if (!first || text.trim() === "") return null;
  const act = async (): Promise<void> => {
    const agent = select.current?.value ?? first.agentSlug;
    await api.received.passOn(id, { agent });
    toast(`Passed on to ${agents.find(({ agentSlug }) => agentSlug === agent)?.agentName ?? agent}`);
  };
  return (
    <ConfirmButton label="Pass on to an agent" question="Pass this mail on to an agent?" act={act}>
      <Field label="Agent" hint="It gets this text as your message, without addresses and names of the sender and recipients.">
        <select ref={select} value={chosen || first.agentSlug} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
          {agents.map(({ id: activation, agentSlug, agentName }) => (
            <option key={activation} value={agentSlug}>
              {agentName}
            </option>
          ))}
        </select>
      </Field>
      <p class="said quoted">{text}</p>
    </ConfirmButton>
  );
}
