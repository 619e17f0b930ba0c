/** @jsxImportSource preact */
import type { Activation, Message } from "@mailsvc/sdk/contract";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { Empty } from "../empty.tsx";
import { ErrorNote } from "../error-note.tsx";
import { ListStates } from "../list-states.tsx";
import { useList, useRegularly } from "../resource.ts";
import { useSending } from "../sending.ts";
import { Time } from "../time.tsx";
import { ApprovalCard } from "./approval-card.tsx";

/** The messages between the brand and an agent, newest first, and a field to write one. */
export function Conversation({ activation: { id, agentName, status } }: { readonly activation: Activation }) {
  const list = useList((cursor, signal) => api.messages.list(id, { limit: 50, ...(cursor && { cursor }) }, { signal }), [id]);
  useRegularly(list.refresh);
  const newest = list.items.find(({ direction, readAt }) => direction === "outbound" && readAt === null)?.sequence ?? null;
  useEffect(() => {
    // Marks the shown messages as read; the list shows that on its next load.
    if (newest !== null && may("marketplace:write")) api.messages.read(id, { upToSequence: newest }).catch(() => {});
  }, [id, newest]);
  const shown = list.items.filter(({ type }) => type !== "APPROVAL_RESPONSE");
  return (
    <div class="stack">
      {status !== "deactivated" && may("marketplace:write") ? <Write id={id} agentName={agentName} done={list.refresh} /> : null}
      <ListStates
        list={list}
        more="Show older"
        empty={
          <Empty title="No messages yet">
            <p>Messages and questions from the agent appear here.</p>
          </Empty>
        }
      >
        <div class="conversation">
          {shown.map((message) =>
            message.approval === null ? (
              <Said key={message.id} message={message} agentName={agentName} />
            ) : (
              <ApprovalCard key={message.id} message={message} done={list.refresh} />
            ),
          )}
        </div>
      </ListStates>
    </div>
  );
}

/** A message as it is written: Markdown is not made into HTML. */
function Said({ message: { direction, text, createdAt, author }, agentName }: { readonly message: Message; readonly agentName: string }) {
  const by = author.role === "agent" ? agentName : author.role === "brand" ? "You" : "mailsvc";
  return (
    <article class={`message ${direction}`}>
      <p class="soft">
        {by} · <Time at={createdAt} />
      </p>
      <p class="said">{text}</p>
    </article>
  );
}

function Write({ id, agentName, done }: { readonly id: string; readonly agentName: string; readonly done: () => void }) {
  const [text, setText] = useState("");
  const sending = useSending();
  const { busy, error } = sending;
  const send = () =>
    sending.send(async () => {
      await api.messages.create(id, { text: text.trim() });
      setText("");
      done();
    });
  return (
    <form
      class="write"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label>
        <span class="hidden">Message to {agentName}</span>
        <textarea
          rows={2}
          required
          maxLength={10_000}
          placeholder={`Message to ${agentName}`}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={busy || text.trim() === ""}>
        Send
      </button>
      {error === null ? null : <ErrorNote error={error} />}
    </form>
  );
}
