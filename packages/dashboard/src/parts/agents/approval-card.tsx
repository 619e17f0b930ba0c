/** @jsxImportSource preact */

import type { Message } from "@mailsvc/sdk/contract";
import { useEffect, useId, useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { may } from "../../api/session.ts";
import { Loading } from "../empty.tsx";
import { ErrorNote } from "../error-note.tsx";
import { ObjectLink } from "../object-link.tsx";
import { countAgain } from "../open-count.tsx";
import { useSending } from "../sending.ts";
import { Status } from "../status.tsx";
import { Time } from "../time.tsx";
import { toast } from "../toast.tsx";
import { CommentField } from "./comment-field.tsx";
import { Preview } from "./preview.tsx";
import type { Proposal } from "./proposal.tsx";

interface Props {
  readonly message: Message;
  /** The name of the agent, where messages of several are shown. */
  readonly agent?: string;
  /** Called when it is answered. */
  readonly done: () => void;
}

/** A request for approval: the question, what it is about, and its answer or the buttons to answer it. */
export function ApprovalCard({ message, agent, done }: Props) {
  const { approval, id, text, activationId, createdAt } = message;
  const title = useId();
  if (approval === null) return null;
  const open = approval.status === "PENDING";
  return (
    <article class={`card approval${open ? " open" : ""}`} aria-labelledby={title}>
      <div class="what">
        <h2 id={title}>{approval.title}</h2>
        <Status status={approval.status} />
      </div>
      <p class="soft">
        {agent === undefined ? null : (
          <>
            <ObjectLink id={activationId} name={agent} /> ·{" "}
          </>
        )}
        asked <Time at={createdAt} />
        {open ? (
          <>
            {" "}
            · expires <Time at={approval.expiresAt} />
            {approval.suspendRun && message.runId !== null ? (
              <>
                {" · "}
                its run <ObjectLink id={message.runId} of={activationId} /> waits for the answer
              </>
            ) : null}
          </>
        ) : null}
      </p>
      <p class="said">{text}</p>
      {approval.preview === null ? null : <Preview preview={approval.preview} />}
      {approval.allows === null ? null : (
        <p class="allows">
          Approving allows this agent: <strong dir="auto">{approval.allows}</strong>
        </p>
      )}
      {approval.proposal === null ? null : <ProposalOf id={id} done={done} />}
      {open && approval.proposal === null && may("marketplace:write") ? <Answer id={id} approval={approval} done={done} /> : null}
      {open ? null : <Decision approval={approval} />}
    </article>
  );
}

/** Loads a proposal. Few requests do, so its parts are loaded with the first one. */
function ProposalOf(props: Parameters<typeof Proposal>[0]) {
  const [Shown, setShown] = useState<typeof Proposal | null>(null);
  const [failed, setFailed] = useState<RequestError | null>(null);
  useEffect(() => {
    import("./proposal.tsx").then(
      ({ Proposal: loaded }) => setShown(() => loaded),
      (cause: unknown) => setFailed(asRequestError(cause)),
    );
  }, []);
  if (failed !== null) return <ErrorNote title="The proposal could not be loaded" error={failed} />;
  return Shown === null ? <Loading /> : <Shown {...props} />;
}

type Question = NonNullable<Message["approval"]>;

function Answer({ id, approval, done }: { readonly id: string; readonly approval: Question; readonly done: () => void }) {
  const [comment, setComment] = useState("");
  const sending = useSending();
  const { busy, error } = sending;
  const answer = (decision: string) =>
    sending.send(async () => {
      const said = comment.trim();
      await api.messages.answer(id, { decision, ...(said !== "" && { comment: said }) });
      toast("Answered");
      countAgain();
      done();
    });
  return (
    <div class="answer">
      {approval.allowComment ? <CommentField value={comment} change={setComment} /> : null}
      <div class="buttons">
        {approval.options.map(({ id: option, label, style = "" }) => (
          <button key={option} type="button" class={style} disabled={busy} onClick={() => void answer(option)}>
            {label}
          </button>
        ))}
      </div>
      {error === null ? null : <ErrorNote error={error} />}
    </div>
  );
}

function Decision({ approval: { decision, options, comment, answeredAt } }: { readonly approval: Question }) {
  const label = options.find(({ id }) => id === decision)?.label ?? decision;
  if (label === null) return null;
  return (
    <p class="decision">
      <strong>{label}</strong>
      {comment === null ? "" : `: ${comment}`}
      {answeredAt === null ? null : (
        <span class="soft">
          {" "}
          · <Time at={answeredAt} />
        </span>
      )}
    </p>
  );
}
