/** @jsxImportSource preact */

import type { ApprovalDetail, ProposalDetail } from "@mailsvc/sdk/contract";
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import { may } from "../../api/session.ts";
import { toHref } from "../../router.tsx";
import { ConfirmButton } from "../confirm-button.tsx";
import { ErrorNote } from "../error-note.tsx";
import { Facts } from "../facts.tsx";
import { Field } from "../field.tsx";
import { Loaded } from "../loaded.tsx";
import { MailFrame } from "../mail-frame.tsx";
import { countAgain } from "../open-count.tsx";
import { count as plural } from "../plural.ts";
import { useResource } from "../resource.ts";
import { useSending } from "../sending.ts";
import { toast } from "../toast.tsx";
import { CommentField } from "./comment-field.tsx";

interface Props {
  readonly id: string;
  readonly done: () => void;
}

/** The mail that an agent proposes, exactly as it would be sent, and the buttons that decide about it. */
export function Proposal({ id, done }: Props) {
  const found = useResource((signal) => api.approvals.get(id, { signal }), [id]);
  return (
    <Loaded from={found}>
      {(shown) => (shown.proposal === null ? null : <Shown request={shown} proposal={shown.proposal} done={done} />)}
    </Loaded>
  );
}

interface ShownProps {
  readonly request: ApprovalDetail;
  readonly proposal: ProposalDetail;
  readonly done: () => void;
}

function Shown({ request, proposal, done }: ShownProps) {
  const { kind, name, rendered, renderError, previewText, suggestedLists, reach, linksTo, loadsFrom, created, text } = proposal;
  const lists = suggestedLists?.map((list) => `${list.name} (${list.memberCount})`).join(", ");
  return (
    <figure class="proposal">
      <figcaption class="soft">{kind === "campaign" ? "Campaign" : "Template"} that the agent proposes</figcaption>
      <Facts
        facts={[
          [
            "Name",
            <span key="name" dir="auto">
              {name}
            </span>,
          ],
          [
            "Subject",
            <strong key="subject" dir="auto">
              {rendered?.subject ?? proposal.subject}
            </strong>,
          ],
          ["Preview text", previewText],
          ["Lists", kind === "campaign" ? lists || "None suggested" : null],
          ["Reaches now", reach === null ? null : plural(reach, "person", "people")],
          ["Links lead to", linksTo.join(", ")],
          ["Images come from", loadsFrom.join(", ")],
        ]}
      />
      {renderError === null ? null : <p class="wrong">It cannot be rendered: {renderError}</p>}
      {rendered?.html ? (
        <MailFrame path={`proposals/${encodeURIComponent(request.id)}`} html={rendered.html} />
      ) : (
        <pre class="text">{rendered?.text ?? text ?? ""}</pre>
      )}
      {created === null ? null : (
        <p>
          <a href={toHref(`/${created.kind}s/${created.id}`)}>
            {created.sent ? "The campaign that was sent" : `The draft ${created.kind}`}
          </a>
        </p>
      )}
      {request.approval?.status === "PENDING" && may("marketplace:write") ? (
        <Answer request={request} proposal={proposal} done={done} />
      ) : null}
    </figure>
  );
}

function Answer({ request, proposal, done }: ShownProps) {
  const { kind, hash, suggestedSender, reach } = proposal;
  const [fromEmail, setFromEmail] = useState(suggestedSender?.fromEmail ?? "");
  const [comment, setComment] = useState("");
  const sending = useSending();
  const isCampaign = kind === "campaign";
  const mayCreate = may(isCampaign ? "campaigns:write" : "templates:write");
  const fromName = fromEmail === suggestedSender?.fromEmail ? suggestedSender.fromName : null;
  const sender = isCampaign ? { fromEmail: fromEmail.trim(), ...(fromName !== null && { fromName }) } : {};
  const answer = async (chosen: { decision: "approve"; create: "draft" | "send" } | { decision: "reject" }): Promise<void> => {
    const said = comment.trim();
    const approves = chosen.decision === "approve";
    await api.messages.answer(request.id, { ...chosen, ...(approves && { hash, ...sender }), ...(said !== "" && { comment: said }) });
    toast("Answered");
    countAgain();
    done();
  };
  const isReady = mayCreate && (!isCampaign || fromEmail.trim() !== "");
  return (
    <div class="answer">
      {isCampaign && mayCreate ? (
        <Field label="From" hint="A verified sender of yours.">
          <input type="email" value={fromEmail} onInput={({ currentTarget }) => setFromEmail(currentTarget.value)} />
        </Field>
      ) : null}
      {request.approval?.allowComment ? <CommentField value={comment} change={setComment} /> : null}
      {isCampaign && mayCreate ? <p class="soft">For other people, approve it as a draft and choose them in the campaign.</p> : null}
      {mayCreate ? null : <p class="soft">Your role cannot create a {kind}. Somebody else has to approve it.</p>}
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={sending.busy || !isReady}
          onClick={() => void sending.send(() => answer({ decision: "approve", create: "draft" }))}
        >
          Approve as a draft
        </button>
        {isReady && reach !== null && reach > 0 ? (
          <ConfirmButton
            label={`Send to ${plural(reach, "person", "people")}`}
            question={`Send it to ${plural(reach, "person", "people")} now?`}
            act={() => answer({ decision: "approve", create: "send" })}
          >
            <p>It is sent from {fromEmail.trim()}, exactly as you see it. This cannot be undone.</p>
          </ConfirmButton>
        ) : null}
        <button
          type="button"
          class="danger"
          disabled={sending.busy}
          onClick={() => void sending.send(() => answer({ decision: "reject" }))}
        >
          Reject
        </button>
      </div>
      {sending.error === null ? null : <ErrorNote error={sending.error} />}
    </div>
  );
}
