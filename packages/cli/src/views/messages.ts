import type { AgentMessage, MailsvcContract, Message, Output } from "@mailsvc/sdk/contract";
import { safeLines } from "../text/safe-text.ts";
import { type Column, renderDetails, wrapText } from "../text/table.ts";
import { formatInstant, formatTimestamp } from "../text/units.ts";
import type { Session } from "../types.ts";
import { dim, paintStatus } from "./status.ts";
import type { View } from "./view.ts";

const messageColumns: Column<Message>[] = [
  { title: "no", value: (m) => m.sequence },
  { title: "id", value: (m) => m.id },
  { title: "from", value: (m) => m.author.role },
  { title: "what", value: kind, flexible: true, paint: paintStatus },
  { title: "text", value: (m) => m.text, flexible: true },
  { title: "when (utc)", value: (m) => formatTimestamp(m.createdAt), paint: dim, priority: 1 },
];

const waitingColumns: Column<AgentMessage>[] = [
  { title: "id", value: (m) => m.id },
  { title: "agent", value: (m) => m.agentSlug, flexible: true },
  { title: "what", value: kind, flexible: true, paint: paintStatus },
  { title: "text", value: (m) => m.text, flexible: true },
  { title: "when (utc)", value: (m) => formatTimestamp(m.createdAt), paint: dim, priority: 1 },
];

const questionColumns: Column<AgentMessage>[] = [
  { title: "id", value: (m) => m.id },
  { title: "agent", value: (m) => m.agentSlug, flexible: true },
  { title: "asks", value: (m) => m.approval?.title, flexible: true },
  { title: "state", value: (m) => m.approval?.status, paint: paintStatus },
  { title: "options", value: (m) => m.approval?.options.map((o) => o.id).join(", "), flexible: true, priority: 2 },
  { title: "until (utc)", value: (m) => formatTimestamp(m.approval?.answeredAt ?? m.approval?.expiresAt), paint: dim, priority: 1 },
];

export const messageViews: Readonly<Record<string, View>> = {
  "approvals.list": { columns: questionColumns, empty: "No open requests.", next: answerFirst },
  "messages.inbox": { columns: waitingColumns, empty: "No open requests.", next: suggestFirst },
  "messages.list": { columns: messageColumns, empty: "No messages yet." },
  "messages.create": { object: showMessage },
  "messages.get": { object: showMessage },
  "received.passOn": { object: showMessage },
  "messages.answer": { object: showMessage },
  "messages.read": { object: unread },
  "agent.messages.list": { columns: messageColumns },
  "agent.messages.get": { object: showMessage },
  "agent.messages.create": { object: showMessage },
  "agent.messages.cancel": { object: showMessage },
  "agent.messages.read": { object: unread },
};

/** The kind of a message, and the state of its question. */
function kind({ type, approval }: Message): string {
  return approval ? `${approval.status} ${approval.title}` : type.toLowerCase().replace("_", " ");
}

/** The command that answers: approve or reject, or one of the question's own options. */
function answerCommand(id: string, options: readonly string[]): string {
  return options.join() === "approve,reject"
    ? `mailsvc approvals approve ${id} (or reject)`
    : `mailsvc messages answer ${id} ${options.join("|")}`;
}

function answerHint({ id, approval }: Message): string | null {
  if (approval?.status === "PENDING" && approval.proposal !== null)
    return `mailsvc approvals get ${id} (what it proposes), then approvals approve ${id} (or reject)`;
  return approval?.status === "PENDING"
    ? answerCommand(
        id,
        approval.options.map((o) => o.id),
      )
    : null;
}

function answerFirst(rows: readonly AgentMessage[]): string | undefined {
  const asked = rows.find((m) => m.approval?.status === "PENDING");
  return asked && (answerHint(asked) ?? undefined);
}

function suggestFirst([first]: readonly AgentMessage[]): string | undefined {
  return first && `mailsvc messages get ${first.id}`;
}

/** A message with its question. */
export function showMessage(m: Message, { term: { out, columns } }: Session): string {
  return [
    renderDetails(
      [
        ["id", m.id],
        ["from", m.author.role],
        ["activation", m.activationId],
        ["run", m.runId],
        ["answers", m.inReplyTo],
        ["written", formatInstant(m.createdAt)],
        ["read", formatInstant(m.readAt)],
        ["asks", m.approval?.title],
        ["state", m.approval?.status],
        ["options", m.approval?.options.map((o) => `${o.id} (${o.label})`).join(", ")],
        ["approving allows", m.approval?.allows],
        ["decision", m.approval?.decision],
        ["comment", m.approval?.comment],
        ["expires", m.approval?.status === "PENDING" ? formatInstant(m.approval.expiresAt) : ""],
        ["next", answerHint(m)],
      ],
      out,
      columns,
    ),
    "",
    wrapText(safeLines(m.text), columns),
  ].join("\n");
}

function unread({ unread: n }: Output<MailsvcContract["messages"]["read"]>): string {
  return n === 0 ? "All messages are read." : `${n} unread.`;
}
